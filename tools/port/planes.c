/* SPDX-License-Identifier: BSD-3-Clause */
/* planes.c - flat arrays of planes: f[q * n + y * nx + x], whatever n is called.
 *
 * Where a short loop has the stride n, and no loop over cells has, the array is taken for
 * f[q][y * nx + x]; the translator knows nothing of n. The step checks that a plane has all cells
 * that a nest uses. The D2Q9 lattice Boltzmann method in such planes, 400 x 200: 0.9 s serially,
 * 5 s translated without this, 0.3 s with it.
 */
#include "nest.h"

#include <string.h>

enum { MOST_PLANED = 64, LEAST_PLANE = 33, MOST_PLANES = 32 };

typedef struct planed {
  const symbol *root;
  const char *key;
  poly stride;
  int64_t n;
} planed;

static planed all[MOST_PLANED];
static int count;

void port_planes_reset(void)
{
  count = 0;
}

static planed *planed_of(const symbol *root, const char *key)
{
  for (int i = 0; i < count; i++)
    if (all[i].root == root && !strcmp(all[i].key, key)) return &all[i];
  return NULL;
}

bool port_planes_of(const symbol *root, const char *key, poly *stride, int64_t *n)
{
  const planed *p = planed_of(root, key);

  if (!p) return false;
  *stride = p->stride;
  *n = p->n;
  return true;
}

/* Whether a loop over cells has this stride in some access to the array; short ones count if told.
 */
static bool is_axis(nest *const *nests, int nnests, const array *a, poly stride, bool with_short)
{
  for (int i = 0; i < nnests; i++)
    for (int k = 0; k < nests[i]->naccesses; k++)
      for (int l = 0; l < nests[i]->nloops && nests[i]->accesses[k]->array == a; l++) {
        poly c, r;

        if ((with_short || !port_loop_is_short(&nests[i]->loops[l])) &&
            port_poly_split(nests[i]->accesses[k]->subs[a->nlevels - 1], nests[i]->loops[l].atom,
                            &c, &r) &&
            port_poly_equal(c, stride))
          return true;
      }
  return false;
}

/* A stride is the same for all cells. */
static bool is_steady(const nest *n, poly stride)
{
  for (int i = 0; i < stride.n; i++)
    for (int k = 0; k < stride.terms[i].degree; k++) {
      const int atom = stride.terms[i].atoms[k];

      if (port_guard_of(n, atom)) return false;
      for (int l = 0; l < n->nloops + n->ninner; l++)
        if (atom == (l < n->nloops ? n->loops[l].atom : n->inner[l - n->nloops].atom)) return false;
    }
  return true;
}

/* A loop over planes, and their stride; p: becomes what is left. */
static bool is_over_planes(const loop *l, poly *p, poly *stride, int64_t *n)
{
  poly r;
  int64_t lo, x;

  if (!port_poly_split(*p, l->atom, stride, &r) || !stride->n) return false;
  *p = r;
  return port_loop_is_short(l) && !l->from.n && port_poly_is_number(l->lo, &lo) && lo >= 0 &&
         port_poly_is_number(l->hi, n) && *n <= MOST_PLANES && stride->terms[0].factor > 0 &&
         (!port_poly_is_number(*stride, &x) || x >= LEAST_PLANE);
}

static bool find_in(nest *const *nests, int nnests, const nest *n, const access *a, planed *to)
{
  poly p = a->subs[a->nsubs - 1];

  for (int k = 0; k < n->nloops + n->ninner; k++) {
    const bool is_inner = k >= n->nloops;
    bool is_open; /* the array has no axes as it stands, for strides that are not numbers */

    if (!is_over_planes(is_inner ? &n->inner[k - n->nloops] : &n->loops[k], &p, &to->stride,
                        &to->n))
      continue;
    is_open = a->array->is_unclear && !port_poly_is_number(to->stride, NULL);
    if ((is_inner || is_open) && is_steady(n, to->stride) &&
        !is_axis(nests, nnests, a->array, to->stride, !is_open))
      return true;
  }
  for (int i = 0; i < p.n && n->is_unrolled; i++) { /* a short loop, written out: 2 * n */
    const term *t = &p.terms[i];

    if (!t->degree || t->factor < 2 || t->factor >= MOST_PLANES) continue;
    to->stride = (poly){.n = 1, .terms = {*t}};
    to->stride.terms[0].factor = 1;
    to->n = t->factor + 1;
    if (is_steady(n, to->stride) && !is_axis(nests, nnests, a->array, to->stride, true))
      return true;
  }
  return false;
}

bool port_planes_find(nest *const *nests, int nnests)
{
  bool more = false;

  for (int i = 0; i < nnests; i++)
    for (int k = 0; k < nests[i]->naccesses; k++) {
      const access *a = nests[i]->accesses[k];
      planed found = {.root = a->array->root, .key = a->array->key}, *old;

      if (a->array->plane.n || a->nsubs != a->array->nlevels || a->is_lookup ||
          !strchr(found.key, '@') || found.key[strlen(found.key) - 1] != ']' ||
          a->array->levels[a->nsubs - 1] == LEVEL_ROWS ||
          (a->nsubs > 1 && a->array->levels[a->nsubs - 2] == LEVEL_ROWS) ||
          !find_in(nests, nnests, nests[i], a, &found))
        continue;
      old = planed_of(found.root, found.key);
      if (old && (!port_poly_equal(old->stride, found.stride) || found.n <= old->n)) continue;
      if (!old && count == MOST_PLANED) continue;
      if (!old) old = &all[count++];
      *old = found;
      more = true;
    }
  return more;
}
