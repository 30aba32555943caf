/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel/weights_file.h"

#include "base/memory.h"
#include "base/number.h"
#include "kernel/ast.h"
#include "kernel/weights.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_CHARS = 64, MAX_WORDS = AMBIT_MAX_DIMS + 3 };

typedef struct point {
  int offset[AMBIT_MAX_DIMS];
  double weight;
  int line; /* where it was given */
} point;

typedef struct reader {
  ambit__errors *errors;
  const char *file;
  int line; /* current, from 1 */
  int nwords;
  char words[MAX_WORDS][WORD_CHARS]; /* of the current line */
  int ndims;                         /* 0: not yet given */
  double divisor;                    /* 0: not yet given */
  point *points;
  size_t npoints, cap;
} reader;

#define FAIL_UNLESS(cond, r, fmt, ...)                                                             \
  AMBIT_CHECK(cond, (r)->errors, AMBIT_EINVAL, "%s:%d: " fmt, (r)->file, (r)->line, __VA_ARGS__)

/* Splits the line at `*text` into words, up to its end or a #, and advances to the next line. */
static ambit_status read_line(reader *r, const char **text)
{
  static const char blanks[] = " \t\r\f\v";
  const char *end = *text + strcspn(*text, "\n"), *stop = *text + strcspn(*text, "\n#");
  const char *at = *text + strspn(*text, blanks);

  r->line++;
  for (r->nwords = 0; at < stop; r->nwords++) {
    size_t n = strcspn(at, " \t\r\f\v\n#");

    FAIL_UNLESS(r->nwords < MAX_WORDS, r, "more than %d words in a line", MAX_WORDS);
    FAIL_UNLESS(n < WORD_CHARS, r, "\"%.20s...\" is too long for a word or a number", at);
    memcpy(r->words[r->nwords], at, n);
    r->words[r->nwords][n] = '\0';
    at += n;
    at += strspn(at, blanks);
  }
  *text = *end ? end + 1 : end;
  return AMBIT_OK;
}

static ambit_status read_int(reader *r, const char *word, int *out)
{
  char *end;
  long value = strtol(word, &end, 10);

  FAIL_UNLESS(end != word && !*end, r, "\"%s\" is not an integer", word);
  FAIL_UNLESS(value >= -AMBIT_MAX_OFFSET && value <= AMBIT_MAX_OFFSET, r,
              "%s is too far; offsets are at most %d", word, AMBIT_MAX_OFFSET);
  *out = (int)value;
  return AMBIT_OK;
}

static ambit_status read_number(reader *r, const char *word, double *out)
{
  FAIL_UNLESS(ambit__number_read(word, out), r, "\"%s\" is not a finite number", word);
  return AMBIT_OK;
}

static ambit_status read_dims(reader *r)
{
  FAIL_UNLESS(r->nwords == 2, r, "dims is followed by %d words; it takes one number, as in: dims 2",
              r->nwords - 1);
  FAIL_UNLESS(!r->ndims, r, "dims is given twice; it was %d", r->ndims);
  AMBIT_TRY(read_int(r, r->words[1], &r->ndims));
  FAIL_UNLESS(r->ndims >= 1 && r->ndims <= AMBIT_MAX_DIMS, r, "dims %d; it must be 1 to %d",
              r->ndims, AMBIT_MAX_DIMS);
  return AMBIT_OK;
}

static ambit_status read_divisor(reader *r)
{
  FAIL_UNLESS(r->nwords == 2, r,
              "divisor is followed by %d words; it takes one number, as in: divisor 20",
              r->nwords - 1);
  FAIL_UNLESS(r->divisor == 0, r, "divisor is given twice; it was %g", r->divisor);
  AMBIT_TRY(read_number(r, r->words[1], &r->divisor));
  FAIL_UNLESS(r->divisor != 0, r, "divisor %s; it must not be zero", r->words[1]);
  return AMBIT_OK;
}

static ambit_status read_weight(reader *r)
{
  point *p;

  FAIL_UNLESS(r->ndims, r, "weight before dims; write \"dims %d\" first",
              r->nwords > 2 ? r->nwords - 2 : 2);
  FAIL_UNLESS(r->nwords == r->ndims + 2, r,
              "weight is followed by %d numbers; it takes %d offsets and the weight, %d in all",
              r->nwords - 1, r->ndims, r->ndims + 1);
  FAIL_UNLESS(r->npoints < AMBIT__WEIGHTS_POINTS, r, "more than %d weights", AMBIT__WEIGHTS_POINTS);
  AMBIT_TRY(ambit__make_room(r->errors, &r->points, r->npoints, &r->cap, sizeof *r->points));
  p = &r->points[r->npoints];
  *p = (point){.line = r->line};
  for (int d = 0; d < r->ndims; d++)
    AMBIT_TRY(read_int(r, r->words[1 + d], &p->offset[d]));
  AMBIT_TRY(read_number(r, r->words[1 + r->ndims], &p->weight));
  r->npoints++;
  return AMBIT_OK;
}

static ambit_status read_statement(reader *r)
{
  const char *word = r->words[0];

  if (!r->nwords) return AMBIT_OK;
  if (!strcmp(word, "dims")) return read_dims(r);
  if (!strcmp(word, "divisor")) return read_divisor(r);
  if (!strcmp(word, "weight")) return read_weight(r);
  return ambit__raise(r->errors, AMBIT_EINVAL,
                      "%s:%d: \"%s\" is unknown; a line begins with dims, divisor, weight or #",
                      r->file, r->line, word);
}

static ambit_status read_text(reader *r, const char *text)
{
  do {
    AMBIT_TRY(read_line(r, &text));
    AMBIT_TRY(read_statement(r));
  } while (*text);
  FAIL_UNLESS(r->npoints, r, "the file ends without a weight; a line is: weight%s 1",
              r->ndims == 1 ? " -1" : " -1 0");
  return AMBIT_OK;
}

static void measure(const reader *r, ambit_weights *w)
{
  w->ndims = r->ndims;
  w->divisor = r->divisor;
  for (size_t i = 0; i < r->npoints; i++)
    for (int d = 0; d < r->ndims; d++) {
      int o = r->points[i].offset[d];

      if (-o > w->low[d]) w->low[d] = -o;
      if (o > w->high[d]) w->high[d] = o;
    }
}

/* `lines` holds, per cell, the line that gave its weight, to find duplicates. */
static ambit_status place_points(reader *r, const ambit_weights *w, double *weights, int *lines)
{
  for (size_t i = 0; i < r->npoints; i++) {
    const point *p = &r->points[i];
    size_t at = ambit__offset_place(w, p->offset);

    r->line = p->line;
    FAIL_UNLESS(!lines[at], r, "this offset already has a weight, from line %d", lines[at]);
    lines[at] = p->line;
    weights[at] = p->weight;
  }
  return AMBIT_OK;
}

static ambit_status make_dense(reader *r, ambit_weights *w)
{
  double *weights = NULL;
  int *lines = NULL;
  ambit_status s;
  size_t cells;

  measure(r, w);
  AMBIT_TRY(ambit__weights_shape(r->errors, r->file, w, &cells));
  weights = ambit__new(r->errors, cells, sizeof *weights);
  lines = ambit__new(r->errors, cells, sizeof *lines);
  s = weights && lines ? place_points(r, w, weights, lines) : AMBIT_ENOMEM;
  free(lines);
  if (s) free(weights);
  w->weights = s ? NULL : weights;
  return s;
}

ambit_status ambit__weights_parse(ambit__errors *errors, const char *file, const char *text,
                                  ambit_weights *w)
{
  reader r = {.errors = errors, .file = file};
  ambit_status s;

  *w = (ambit_weights){0};
  s = read_text(&r, text);
  if (!s) s = make_dense(&r, w);
  free(r.points);
  return s;
}
