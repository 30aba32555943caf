/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_held.c - values of other fields beside a ring of planes.
 *
 * Loaded ahead into registers, they make rules with several fields spill: two rows of doubles of
 * two fields take 32 of them. They are copied to shared memory instead, where each lane has places
 * of its own, so that it need not wait for others. It takes them when it computes their row. The
 * copies of a plane end with those of the plane of the ring that begin at the same time.
 */
#include "plan/stream.h"

enum { VECTOR = 16 }; /* bytes of a copy */

bool ambit__stream_find_held(const ambit__rule *rule, ambit__stream_job *j)
{
  bool any = false;

  for (int i = 0; i < j->nstreams; i++) {
    ambit__stream *s = &j->streams[i];
    const ambit__stream_row *r = &s->rows[0];

    if (s->ring) continue;
    if (s->below || s->above || !r->is_read || r->low || r->high || r->has_edges) return false;
    if (j->lane * (int)ambit_type_size(rule->params[s->param].type) % VECTOR) return false;
    s->held = any = true;
  }
  return any;
}

/* Cells of a stream that are held for one plane. */
static int cells_of(const ambit__stream_job *j)
{
  return j->rows * j->warps * AMBIT__STREAM_WARP * j->lane;
}

static size_t bytes_before(const ambit__stream_job *j, const ambit__rule *rule,
                           const ambit__stream *end)
{
  size_t n = 0;

  for (const ambit__stream *s = j->streams; s < end; s++)
    if (s->held)
      n += (size_t)(j->slots * cells_of(j)) * ambit_type_size(rule->params[s->param].type);
  return n;
}

size_t ambit__stream_held_bytes(const ambit__stream_job *j, const ambit__rule *rule)
{
  return bytes_before(j, rule, j->streams + j->nstreams);
}

/* "double (*const o_h)[1408] = (double(*)[1408])((double *)(bytes + 155520) + ...);" */
static void declare(const ambit__stream_job *j, const ambit__stream *s, size_t from)
{
  const char *type = ambit__gpucode_type(&j->gpu, s->param);
  const int n = cells_of(j);

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s (*const ", type);
  ambit__stream_print_name(j, s, 'h');
  ambit__print(j->gpu.t, ")[%d] = (%s(*)[%d])((%s *)(bytes + %zu) + (%s * %d + %s) * %d)", n, type,
               n, type, from + bytes_before(j, j->gpu.rule, s), j->gpu.dialect->thread[1],
               AMBIT__STREAM_WARP, j->gpu.dialect->thread[0], j->lane);
  ambit__line_end(j->gpu.w, ";");
}

void ambit__stream_declare_held(const ambit__stream_job *j, size_t from)
{
  for (int i = 0; i < j->nstreams; i++)
    if (j->streams[i].held) declare(j, &j->streams[i], from);
}

void ambit__stream_print_held(const ambit__stream_job *j, const ambit__stream *s,
                              const ambit__stream_moment *m, const char *row)
{
  ambit__stream_print_name(j, s, 'h');
  if (m->is_first)
    ambit__print(j->gpu.t, "[k %% %d]", j->slots);
  else
    ambit__print(j->gpu.t, "[(p + %d) %% %d]", m->plane, j->slots);
  ambit__print(j->gpu.t, " + %s * %d", row, cells_of(j) / j->rows);
}

void ambit__stream_take_held(const ambit__stream_job *j)
{
  const ambit__stream_moment now = {.plane = 0};

  for (int i = 0; i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];

    if (!s->held) continue;
    ambit__line_begin(j->gpu.w);
    ambit__stream_print_call(j, "ambit_load", s->param, j->lane);
    ambit__print(j->gpu.t, "&");
    ambit__stream_print_name(j, s, 'w');
    ambit__stream_print_moment(j, &now);
    ambit__print(j->gpu.t, "[t][0], ");
    ambit__stream_print_held(j, s, &now, "t");
    ambit__line_end(j->gpu.w, ");");
  }
}
