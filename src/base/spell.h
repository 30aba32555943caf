/* spell.h - "did you mean": the name nearest to one that was mistyped.
 *
 *   ambit__guess g = ambit__guess_start(typed);
 *   for (each name) ambit__guess_offer(&g, name);
 *   if (g.best) ... did you mean g.best ...
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_BASE_SPELL_H
#define AMBIT_BASE_SPELL_H

typedef struct ambit__guess {
  const char *typed;
  const char *best; /* of the names offered, which must stay; NULL: none is near */
  int distance;     /* of it; or, to begin with, how much is too far */
} ambit__guess;

/* The shorter the word, the fewer letters may differ. */
ambit__guess ambit__guess_start(const char *typed);
void ambit__guess_offer(ambit__guess *g, const char *name);

/* Letters inserted, dropped, changed, or swapped with their neighbour; capitals count as small. */
int ambit__spell_distance(const char *a, const char *b);

#endif
