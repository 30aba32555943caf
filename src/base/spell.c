/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/spell.h"
#include "base/integers.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 }; /* letters of a name; longer names are not compared */

static int letter(const char *text, int i)
{
  return tolower((unsigned char)text[i]);
}

int ambit__spell_distance(const char *a, const char *b)
{
  int rows[3][LONGEST + 1];
  int na = (int)strlen(a), nb = (int)strlen(b);

  if (na > LONGEST || nb > LONGEST) return strcmp(a, b) ? LONGEST : 0;
  for (int j = 0; j <= nb; j++)
    rows[0][j] = j;
  for (int i = 1; i <= na; i++) {
    int *now = rows[i % 3], *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];

    now[0] = i;
    for (int j = 1; j <= nb; j++) {
      int change = last[j - 1] + (letter(a, i - 1) != letter(b, j - 1));

      now[j] = ambit__min(ambit__min(last[j], now[j - 1]) + 1, change);
      if (i > 1 && j > 1 && letter(a, i - 1) == letter(b, j - 2) &&
          letter(a, i - 2) == letter(b, j - 1))
        now[j] = ambit__min(now[j], before[j - 2] + 1);
    }
  }
  return rows[na % 3][nb];
}

ambit__guess ambit__guess_start(const char *typed)
{
  size_t n = strlen(typed);

  return (ambit__guess){.typed = typed, .distance = n < 2 ? 1 : n < 4 ? 2 : n < 8 ? 3 : 4};
}

void ambit__guess_offer(ambit__guess *g, const char *name)
{
  int d = ambit__spell_distance(g->typed, name);

  if (d >= g->distance) return;
  g->distance = d;
  g->best = name;
}
