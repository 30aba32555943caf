/* SPDX-License-Identifier: BSD-3-Clause */
/* poly.c - arithmetic of polynomials; see poly.h.
 */
#include "poly.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATOMS = 4096 };
static struct {
  const symbol *sym;
  const char *text;
} atoms[ATOMS];
static int natoms;

static int new_atom(const symbol *sym, const char *text)
{
  if (natoms == ATOMS) {
    fprintf(stderr, "ambit port: the program has more than %d different subscripts\n", ATOMS);
    exit(1);
  }
  atoms[natoms].sym = sym;
  atoms[natoms].text = text;
  return natoms++;
}

int port_atom_of(const symbol *sym)
{
  for (int i = 0; i < natoms; i++)
    if (atoms[i].sym == sym) return i;
  return new_atom(sym, sym->name);
}

int port_atom_of_text(const char *text)
{
  for (int i = 0; i < natoms; i++)
    if (!atoms[i].sym && !strcmp(atoms[i].text, text)) return i;
  return new_atom(NULL, port_text("%s", text));
}

int port_atom_named(const char *name)
{
  for (int i = natoms - 1; i >= 0; i--)
    if (atoms[i].sym && !strcmp(atoms[i].text, name)) return i;
  return port_atom_of_text(name);
}

const symbol *port_atom_symbol(int atom)
{
  return atoms[atom].sym;
}

const char *port_atom_text(int atom)
{
  return atoms[atom].text;
}

poly port_poly_number(int64_t x)
{
  poly p = {.n = x != 0};

  p.terms[0].factor = x;
  return p;
}

poly port_poly_atom(int atom)
{
  poly p = {.n = 1};

  p.terms[0] = (term){.factor = 1, .degree = 1, .atoms = {atom}};
  return p;
}

poly port_poly_bad(void)
{
  return (poly){.is_bad = true};
}

/* Higher degree first, then by atoms: the order of division. */
static int compare(const term *a, const term *b)
{
  if (a->degree != b->degree) return b->degree - a->degree;
  for (int i = 0; i < a->degree; i++)
    if (a->atoms[i] != b->atoms[i]) return a->atoms[i] - b->atoms[i];
  return 0;
}

static void add_term(poly *p, const term *t)
{
  int i = 0;

  if (!t->factor || p->is_bad) return;
  while (i < p->n && compare(&p->terms[i], t) < 0)
    i++;
  if (i < p->n && !compare(&p->terms[i], t)) {
    p->terms[i].factor += t->factor;
    if (!p->terms[i].factor)
      memmove(&p->terms[i], &p->terms[i + 1], (size_t)(--p->n - i) * sizeof *t);
    return;
  }
  if (p->n == POLY_TERMS) {
    p->is_bad = true;
    return;
  }
  memmove(&p->terms[i + 1], &p->terms[i], (size_t)(p->n++ - i) * sizeof *t);
  p->terms[i] = *t;
}

poly port_poly_add(poly a, poly b)
{
  if (a.is_bad || b.is_bad) return port_poly_bad();
  for (int i = 0; i < b.n; i++)
    add_term(&a, &b.terms[i]);
  return a;
}

static bool multiply(const term *a, const term *b, term *out)
{
  int i = 0, j = 0;

  if (a->degree + b->degree > POLY_DEGREE) return false;
  memset(out, 0, sizeof *out);
  out->factor = a->factor * b->factor;
  while (i < a->degree || j < b->degree) {
    bool first = j == b->degree || (i < a->degree && a->atoms[i] <= b->atoms[j]);

    out->atoms[out->degree++] = first ? a->atoms[i++] : b->atoms[j++];
  }
  return true;
}

poly port_poly_mul(poly a, poly b)
{
  poly p = {0};
  term t;

  if (a.is_bad || b.is_bad) return port_poly_bad();
  for (int i = 0; i < a.n; i++)
    for (int j = 0; j < b.n; j++) {
      if (!multiply(&a.terms[i], &b.terms[j], &t)) return port_poly_bad();
      add_term(&p, &t);
    }
  return p;
}

poly port_poly_sub(poly a, poly b)
{
  return port_poly_add(a, port_poly_mul(port_poly_number(-1), b));
}

bool port_poly_is_number(poly p, int64_t *x)
{
  if (p.is_bad || p.n > 1 || (p.n && p.terms[0].degree)) return false;
  if (x) *x = p.n ? p.terms[0].factor : 0;
  return true;
}

bool port_poly_equal(poly a, poly b)
{
  int64_t x;

  return port_poly_is_number(port_poly_sub(a, b), &x) && !x;
}

static int power(const term *t, int atom)
{
  int n = 0;

  for (int i = 0; i < t->degree; i++)
    n += t->atoms[i] == atom;
  return n;
}

bool port_poly_has(poly p, int atom)
{
  for (int i = 0; i < p.n; i++)
    if (power(&p.terms[i], atom)) return true;
  return false;
}

/* t / by, if it divides. */
static bool quotient(const term *t, const term *by, term *out)
{
  int j = 0;

  if (by->degree > t->degree || t->factor % by->factor) return false;
  memset(out, 0, sizeof *out);
  out->factor = t->factor / by->factor;
  for (int i = 0; i < t->degree; i++) {
    if (j < by->degree && t->atoms[i] == by->atoms[j])
      j++;
    else
      out->atoms[out->degree++] = t->atoms[i];
  }
  return j == by->degree;
}

bool port_poly_split(poly p, int atom, poly *c, poly *r)
{
  const term by = {.factor = 1, .degree = 1, .atoms = {atom}};
  term t;

  *c = *r = (poly){0};
  if (p.is_bad) return false;
  for (int i = 0; i < p.n; i++) {
    const int n = power(&p.terms[i], atom);

    if (n > 1) return false;
    if (!n)
      add_term(r, &p.terms[i]);
    else if (quotient(&p.terms[i], &by, &t))
      add_term(c, &t);
  }
  return true;
}

static int64_t nearest(int64_t x, int64_t y)
{
  const int64_t n = x / y, left = x % y;

  return left * 2 > y ? n + 1 : left * 2 < -y ? n - 1 : n;
}

void port_poly_divide(poly p, poly by, poly *q, poly *r)
{
  int64_t x, y;

  *q = *r = (poly){0};
  if (p.is_bad || by.is_bad || !by.n) {
    *r = p;
    return;
  }
  if (port_poly_is_number(p, &x) && port_poly_is_number(by, &y)) { /* to the nearest: -1 stays -1 */
    const int64_t n = nearest(x, y);

    *q = port_poly_number(n);
    *r = port_poly_number(x - n * y);
    return;
  }
  for (int guard = 0; p.n && guard < 4 * POLY_TERMS; guard++) {
    poly t = {.n = 1};

    if (quotient(&p.terms[0], &by.terms[0], &t.terms[0])) {
      *q = port_poly_add(*q, t);
      p = port_poly_sub(p, port_poly_mul(t, by));
      if (p.is_bad) break;
    } else if (!p.terms[0].degree &&
               port_poly_is_number(by, &y)) { /* 4 * j + 6 by 4: as a number */
      const int64_t n = nearest(p.terms[0].factor, y);

      *q = port_poly_add(*q, port_poly_number(n));
      *r = port_poly_add(*r, port_poly_number(p.terms[0].factor - n * y));
      p.n = 0;
    } else {
      add_term(r, &p.terms[0]);
      memmove(&p.terms[0], &p.terms[1], (size_t)--p.n * sizeof *p.terms);
    }
  }
  if (p.is_bad || p.n) *r = port_poly_bad();
}

/* is_code: products of variables are 64 bits wide, whatever types the variables have. */
static const char *print(poly p, bool is_code)
{
  ambit__text t = {0};
  char *out;
  const char *copy;

  if (p.is_bad || !p.n) return "0";
  for (int i = 0; i < p.n; i++) {
    const term *m = &p.terms[i];
    const int64_t f = m->factor;
    const bool bare = m->degree && (f == 1 || f == -1);

    ambit__print(&t, "%s", i ? (f < 0 ? " - " : " + ") : f < 0 ? "-" : "");
    if (is_code && m->degree > 1) ambit__print(&t, "(int64_t)");
    if (!bare) ambit__print(&t, "%" PRId64, f < 0 ? -f : f);
    for (int k = 0; k < m->degree; k++)
      ambit__print(&t, "%s%s", k || !bare ? " * " : "", atoms[m->atoms[k]].text);
  }
  out = ambit__text_finish(&t);
  copy = port_text("%s", out ? out : "0");
  free(out);
  return copy;
}

const char *port_poly_print(poly p)
{
  return print(p, false);
}

const char *port_poly_code(poly p)
{
  return print(p, true);
}
