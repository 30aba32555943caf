/* SPDX-License-Identifier: BSD-3-Clause */
/* support.c - the support code that every translated program carries: its declarations before the
 * first function, its definitions at the end.
 */
#include "edit.h"
#include "translate.h"

#include <string.h>

extern const char port_support_ahead[], port_support_arrays[], port_support_check[],
    port_support_copies[], port_support_grids[], port_support_head[], port_support_orders[],
    port_support_probes[], port_support_queue[], port_support_results[], port_support_run[],
    port_support_turns[];

/* Before the first function, and before any #if around it. */
static unsigned place_of_head(const unit *u)
{
  const function *first = NULL;
  unsigned outside;

  for (const function *f = u->functions; f; f = f->next)
    if (f->is_editable && (!first || f->begin < first->begin)) first = f;
  port_declaration_at(u, first ? first->begin : (unsigned)u->size, &outside);
  return outside;
}

static const char names[] = "#define malloc(n) port_malloc(n)\n"
                            "#define calloc(n, s) port_calloc(n, s)\n"
                            "#define realloc(p, n) port_realloc(p, n)\n"
                            "#define aligned_alloc(a, n) port_aligned_alloc(a, n)\n"
                            "#define posix_memalign(p, a, n) port_posix_memalign(p, a, n)\n"
                            "#define free(p) port_free(p)\n"
                            "#define fopen(p, m) port_fopen(p, m)\n"
                            "#undef memcpy\n"
                            "#define memcpy(to, from, n) port_memcpy(to, from, n)\n\n";
static const char no_names[] =
    "\n#undef malloc\n#undef calloc\n#undef realloc\n#undef aligned_alloc\n"
    "#undef posix_memalign\n#undef free\n#undef fopen\n#undef memcpy\n\n";

/* The declarations, less those of --check. */
static const char *without_check(void)
{
  const char *at = strstr(port_support_head, "PORT_API void port_go_beside"),
             *end = strstr(at, "PORT_API double port_result");

  return port_text("%.*s%s", (int)(at - port_support_head), port_support_head, end);
}

/* The declarations; of several files, one has the definitions. */
void port_write_head(unit *u, const settings *set, bool is_single, bool is_support)
{
  const char *api = is_single    ? ""
                    : is_support ? "#define PORT_API\n"
                                 : "#define PORT_API extern\n";
  const char *share =
      set->cpu_share > 0 ? port_text("#define PORT_CPU_SHARE %.17g\n", set->cpu_share) : "";

  port_edit_lines(
      u, place_of_head(u),
      port_text("%s%s%s%s", api, share, set->check ? port_support_head : without_check(), names));
}

void port_write_support(const unit *u, const settings *set)
{
  const char *const parts[] = {
      no_names,           port_support_arrays,  port_support_queue,  port_support_turns,
      port_support_grids, port_support_orders,  port_support_copies, port_support_run,
      port_support_ahead, port_support_results, port_support_probes};

  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    port_edit((unsigned)u->size, 0, parts[i]);
  if (set->check) port_edit((unsigned)u->size, 0, port_support_check);
}
