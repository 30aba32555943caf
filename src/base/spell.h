/* SPDX-License-Identifier: BSD-3-Clause */
/* spell.h - "did you mean": finds the name closest to a misspelt one.
 *
 *   ambit__guess g = ambit__guess_start(typed);
 *   for (each name) ambit__guess_offer(&g, name);
 *   if (g.best) ... did you mean g.best ...
 */
#ifndef AMBIT_BASE_SPELL_H
#define AMBIT_BASE_SPELL_H

typedef struct ambit__guess {
  const char *typed;
  const char *best; /* closest name offered, not copied; NULL: none is close */
  int distance;     /* of `best`; initially the distance that is too far */
} ambit__guess;

/* The limit on the distance grows with the length of the word. */
ambit__guess ambit__guess_start(const char *typed);
void ambit__guess_offer(ambit__guess *g, const char *name);

/* Edit distance: letters inserted, deleted, changed, or swapped with a neighbour; ignores case. */
int ambit__spell_distance(const char *a, const char *b);

#endif
