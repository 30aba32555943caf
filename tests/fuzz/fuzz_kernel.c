/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_kernel.c - any text: it is refused with a message, or it prints to a text that parses to the
 * same rule, and can be joined with itself. For libFuzzer; main.c replays inputs without it.
 */
#include "kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *text)
{
  fprintf(stderr, "%s\n%s\n", what, text);
  abort();
}

/* The canonical text may need a little more of what is limited than the text it was made from. */
static int is_a_limit(const char *story)
{
  return strstr(story, "nested more than") || strstr(story, "too long");
}

static void check_round_trip(const ambit__rule *rule)
{
  ambit__errors errors = {0};
  ambit__rule *again;
  char *first = ambit__rule_print(rule), *second;

  if (!first) return;
  if (ambit__rule_parse(&errors, "printed", first, &again)) {
    if (!is_a_limit(errors.text)) fail(errors.text, first);
    ambit__errors_clear(&errors);
    free(first);
    return;
  }
  second = ambit__rule_print(again);
  if (second && strcmp(first, second)) fail(first, second);
  if (again->ndims != rule->ndims || again->nlocals != rule->nlocals || again->flops != rule->flops)
    fail("the rule changed", first);
  free(first);
  free(second);
  ambit__rule_free(again);
}

/* The rule joined with itself does all its work twice. */
static void check_join(const ambit__rule *rule)
{
  const ambit__rule *const twice[2] = {rule, rule};
  int param[2][AMBIT_MAX_PARAMS];
  ambit__errors errors = {0};
  ambit__rule *joined;

  for (int i = 0; i < AMBIT_MAX_PARAMS; i++)
    param[0][i] = param[1][i] = i;
  if (rule->ntables) return;
  if (ambit__rule_join(&errors, 2, twice, (const int(*)[AMBIT_MAX_PARAMS])param, &joined))
    fail(errors.text, rule->text);
  if (joined->nparams != rule->nparams || joined->flops != 2 * rule->flops)
    fail("joining changed the rule", joined->text);
  ambit__rule_free(joined);
}

static void check_colours(const ambit__rule *rule)
{
  unsigned axes;

  for (int i = 0; i < rule->nparams; i++)
    if (ambit__rule_colour(rule, i, &axes) && !axes) fail("a colour without axes", rule->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  ambit__errors errors = {0};
  ambit__rule *rule;
  ambit__tap taps[64];
  int count;
  char *text = malloc(size + 1);

  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  if (ambit__rule_parse(&errors, "fuzz", text, &rule)) {
    if (!errors.text || !*errors.text) fail("refused without a message", text);
    ambit__errors_clear(&errors);
  } else {
    check_round_trip(rule);
    ambit__rule_taps(rule, taps, 64, &count);
    check_join(rule);
    check_colours(rule);
    ambit__rule_free(rule);
  }
  free(text);
  return 0;
}
