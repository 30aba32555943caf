/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - the strategy `rows`. rows.c chooses the plan; the others write code: rows_cell.c the
 * rule for one cell, rows_sum.c the rows of a weighted sum, rows_exact.c strict sums over cells,
 * rows_block.c the functions of several rows, rows_inside.c cells far from faces, rows_wide.c
 * narrow fields beside wide ones, rows_narrow.c narrow fields alone, rows_tables.c their look-ups,
 * rows_emit.c the file. */
#ifndef AMBIT_PLAN_ROWS_H
#define AMBIT_PLAN_ROWS_H

#include "codegen/hoist.h"
#include "codegen/narrow.h"
#include "plan/emit.h"
#include "plan/factors.h"
#include "plan/shares.h"

enum { AMBIT__ROWS_LOOKS = 8 }; /* most look-ups of bytes by vectors */

/* The code that is being written. */
typedef struct ambit__rows_job {
  const ambit__group *group;
  const ambit__plan *plan;
  const ambit__rule *rule;
  const ambit__binding *bind;
  const ambit__chunk_form *form; /* of a sparse grid; NULL: dense */
  int ndims, last;
  bool direct; /* results are stored directly to memory, cell by cell */
  bool reduces;
  bool strict;                 /* sums of real numbers are exact */
  bool for_people;             /* the function is for registration: see ambit_register_cpu */
  bool wide[AMBIT_MAX_PARAMS]; /* fields that functions of one row read as int32_t: rows_wide.c */
  ambit__narrow *narrow;       /* lanes as narrow as values: rows_narrow.c; NULL: they are not */
  ambit__hoists hoists;        /* values that all cells share */
  ambit__shares *shares;       /* values that rows of a block share; NULL: none */
  int nlooks;                  /* look-ups of bytes by vectors: rows_tables.c */
  const ambit__expr *looks[AMBIT__ROWS_LOOKS];
  bool flat;  /* the rule has conditions, which become selections */
  bool tests; /* it tests outside(), at most these distances from the cell: */
  int low[AMBIT_MAX_DIMS], high[AMBIT_MAX_DIMS];
  bool whole;              /* vectors at row ends may be stored whole: all outputs have twins */
  int ntaps;               /* number of terms, if the rule is a weighted sum ... */
  ambit__tap *taps;        /* ... whose terms may be added in any order; NULL: it is not */
  int from, to;            /* parameters of the sum */
  ambit__factors *factors; /* of a sum that is factored; NULL: it is not */
  ambit__writer *w;
  ambit__text *t; /* of the writer */
} ambit__rows_job;

/* One row of a block of rows, at a vector of cells or at a single cell. */
typedef struct ambit__rows_place {
  int r;                      /* number of the row */
  int offset[AMBIT_MAX_DIMS]; /* from the first row */
  bool lanes;                 /* cell x + l, whose results go to v_b<r>[l]; false: cell x */
} ambit__rows_place;

/* ---- properties of a parameter ---- */

static inline const ambit__param *ambit__rows_param(const ambit__rows_job *j, int i)
{
  return &j->rule->params[i];
}

static inline bool ambit__rows_is_field(const ambit__rows_job *j, int i)
{
  return ambit__rows_param(j, i)->kind == PARAM_FIELD && j->bind[i].is_field;
}

/* Strides of a field that the code uses, those between rows or between cells: first to end - 1. */
static inline int ambit__rows_first_stride(const ambit__rows_job *j)
{
  return j->form ? j->last : 0;
}

static inline int ambit__rows_end_stride(const ambit__rows_job *j, int i)
{
  return ambit__rows_is_field(j, i) ? j->last + !j->bind[i].contiguous : 0;
}

static inline bool ambit__rows_is_value(const ambit__rows_job *j, int i)
{
  return ambit__rows_param(j, i)->kind != PARAM_REDUCE && !ambit__rows_is_field(j, i);
}

static inline bool ambit__rows_is_reduction(const ambit__rows_job *j, int i)
{
  return ambit__rows_param(j, i)->kind == PARAM_REDUCE;
}

static inline bool ambit__rows_is_exact(const ambit__rows_job *j, int i)
{
  return j->strict && ambit__rows_is_reduction(j, i) &&
         ambit__rows_param(j, i)->reduce == REDUCE_SUM &&
         ambit__type_is_real(ambit__rows_param(j, i)->type);
}

/* "f64": the suffix of the names for a strict sum in prelude/sums_c.h. */
static inline const char *ambit__rows_tail(const ambit__rows_job *j, int i)
{
  return ambit__rows_param(j, i)->type == AMBIT_F32 ? "f32" : "f64";
}

/* The type of a parameter's values: in memory, and in the functions that compute cells. */
static inline const char *ambit__rows_memory_type(const ambit__rows_job *j, int i)
{
  return ambit__dialect_c.types[ambit__rows_param(j, i)->type];
}

static inline const char *ambit__rows_type_of(const ambit__rows_job *j, int i)
{
  return j->wide[i] ? "int32_t" : ambit__rows_memory_type(j, i);
}

/* The type in which cells of a reduction are folded within a row. */
static inline const char *ambit__rows_part_type(const ambit__rows_job *j, int i)
{
  bool widens = !ambit__type_is_real(ambit__rows_param(j, i)->type) &&
                ambit__rows_param(j, i)->reduce == REDUCE_SUM;

  return widens ? "int64_t" : ambit__rows_type_of(j, i);
}

static inline const char *ambit__rows_total_type(const ambit__rows_job *j, int i)
{
  if (ambit__rows_is_exact(j, i)) return "ambit_block";
  return ambit__type_is_real(ambit__rows_param(j, i)->type) ? "double" : "int64_t";
}

/* ---- rows_cell.c: names, lists and the function of one cell ---- */

typedef enum ambit__list_kind { DECLARE, PASS } ambit__list_kind;

/* Lists of parameters or arguments, a comma before each item: strides and values; pointers to
 * fields and indices; accumulators of reductions ("part": per lane; "total"). */
void ambit__rows_print_invariants(const ambit__rows_job *j, ambit__list_kind kind);
void ambit__rows_print_places(const ambit__rows_job *j, ambit__list_kind kind);
void ambit__rows_print_accumulators(const ambit__rows_job *j, ambit__list_kind kind,
                                    const char *stem);
/* "2 * u_s0 - u_s1 + 3": an offset in the memory of field i; "0" for none. */
void ambit__rows_print_offset(const ambit__rows_job *j, ambit__text *t, int i, int component,
                              const int *offset);
/* Calls f for every written component. */
void ambit__rows_each_output(const ambit__rows_job *j,
                             void (*f)(const ambit__rows_job *, int i, int c, const void *),
                             const void *user);
ambit__scope ambit__rows_scope_of(const ambit__rows_job *j);
/* *<name>_<a> = *<name>_<a> op <name>_<b>, in the type of the parts or of the total; `star` is "*"
 * or "". */
void ambit__rows_fold(const ambit__rows_job *j, const ambit__scope *s, int i, const char *star,
                      const char *a, const char *b, bool total);
void ambit__rows_emit_cell(const ambit__rows_job *j);

/* ---- rows_block.c ---- */

/* The functions of N rows, and "rows4(call, ...": a call of one of them. */
void ambit__rows_emit_block(const ambit__rows_job *j, const int rows[2]);
void ambit__rows_call(const ambit__rows_job *j, const char *name, int n, const char *accumulators,
                      const char *tail);

ambit__rows_place ambit__rows_place_of(const ambit__rows_job *j, const int rows[2], int r,
                                       bool lanes);
/* "u_at + u_s0 + x + l": component c of field i at a place. */
void ambit__rows_print_pointer(const ambit__rows_job *j, int i, int c, const ambit__rows_place *p);
/* "v_b0_1": the buffer for the lanes of component c of field i, in row r. */
void ambit__rows_print_buffer(const ambit__rows_job *j, int i, int c, int r);

/* Begins "kind void name<n>(...tail) {". */
void ambit__rows_open_function(const ambit__rows_job *j, const char *kind, const char *name, int n,
                               const char *accumulators, const char *tail);
/* Whether the parts of reductions, one per lane, are those of all chunks of a call: folding them
 * for each would take longer than a short chunk itself. Else the function of rows has them. */
bool ambit__rows_keeps_parts(const ambit__rows_job *j);
void ambit__rows_declare_parts(const ambit__rows_job *j);
void ambit__rows_fold_parts(const ambit__rows_job *j);
/* In the entry: the total of reduction i, per lane; and at its end, the lanes of all totals. */
void ambit__rows_open_total(const ambit__rows_job *j, int i);
void ambit__rows_close_totals(const ambit__rows_job *j);

/* ---- rows_wide.c: narrow fields beside wider ones ---- */

/* Finds the fields to widen, in rules whose lanes hold values of at least `lane_bytes`. */
void ambit__rows_find_wide(ambit__rows_job *j, size_t lane_bytes);
/* The function rowsN, if there are any: calls walkN with widened pieces of rows. */
void ambit__rows_emit_wide(const ambit__rows_job *j, const int rows[2]);
/* "walk" or "rows": the name of the function that has the loop along the rows. */
const char *ambit__rows_walk_name(const ambit__rows_job *j);

/* ---- rows_narrow.c: rules whose fields are all narrow integers ---- */

/* Sets j->narrow and j->shares if the rule is one. false: no memory. */
bool ambit__rows_begin_narrow(ambit__rows_job *j, ambit__narrow *n, ambit__shares *s);
/* The parameters of the function of a cell, and the arguments for a place of a block, a comma
 * before each; the variables for the arguments that no earlier row has. */
void ambit__rows_declare_shares(const ambit__rows_job *j);
void ambit__rows_pass_shares(const ambit__rows_job *j, const int rows[2],
                             const ambit__rows_place *p);
void ambit__rows_load_shares(const ambit__rows_job *j, const int rows[2],
                             const ambit__rows_place *p);
/* Functions of a scope: sums of bytes and bytes that were looked up; statements to leave out. */
bool ambit__rows_print_ready(const ambit__scope *s, ambit__text *t, const ambit__expr *e);
bool ambit__rows_skip(const ambit__scope *s, const ambit__stmt *st);

/* ---- rows_tables.c: look-ups by vectors; without any each function writes nothing ---- */

void ambit__rows_find_looks(ambit__rows_job *j);
/* Prints the byte that was found for an expression; false: it is none of these look-ups. */
bool ambit__rows_print_look(const ambit__rows_job *j, ambit__text *t, const ambit__expr *e);
/* The function `subscripts` of a cell; the parameters of the function of a cell. */
void ambit__rows_emit_subscripts(const ambit__rows_job *j);
void ambit__rows_declare_looks(const ambit__rows_job *j);
/* Arguments for a place of a block, " + l" or "[l]" after each; a comma before each. */
void ambit__rows_pass_looks(const ambit__rows_job *j, const ambit__rows_place *p, const char *form);
/* The buffers of n rows; and the look-ups. */
void ambit__rows_declare_look_buffers(const ambit__rows_job *j, int n);
void ambit__rows_look_up(const ambit__rows_job *j, int n);

/* ---- rows_exact.c: strict sums; without strict sums each function writes nothing ---- */

void ambit__rows_emit_room(const ambit__rows_job *j);
/* In the entry: declares <name>_total, the block; adds its contents to the long accumulator. */
void ambit__rows_open_blocks(const ambit__rows_job *j);
void ambit__rows_close_blocks(const ambit__rows_job *j);
/* In the function of N rows: <name>_part, the position of the next number. */
void ambit__rows_declare_blocks(const ambit__rows_job *j);
void ambit__rows_store_blocks(const ambit__rows_job *j);
/* After `count` numbers were stored: up to ROOM. */
void ambit__rows_settle(const ambit__rows_job *j, const char *count);

/* ---- rows_sum.c ---- */

void ambit__rows_print_weight(const ambit__rows_job *j, const ambit__tap *tap);
/* Statements that sum all rows of a block at x, or at x + l. */
void ambit__rows_emit_sum(const ambit__rows_job *j, const int rows[2], bool lanes);

/* ---- rows_factors.c ---- */

/* The function of a row of a sum that is factored. */
void ambit__rows_emit_factored(const ambit__rows_job *j);

/* ---- rows_emit.c ---- */

enum { AMBIT__ROWS_TAPS = 512 }; /* most terms of a sum computed term by term */
/* Whether the rule of a group is a weighted sum of one field into another whose terms may be
 * reordered; its terms, at most AMBIT__ROWS_TAPS. */
bool ambit__rows_taps(const ambit__group *g, ambit__tap *taps, ambit__sum *sum);

void ambit__rows_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                      ambit__writer *w);

/* ---- rows_inside.c: cells where all tests of their place have known values ---- */

void ambit__rows_find_tests(ambit__rows_job *j);
void ambit__rows_emit_inside(const ambit__rows_job *j); /* for the rows of a block */
void ambit__rows_emit_bounds(const ambit__rows_job *j); /* along them */
/* Calls in the loop along the rows: of a cell anywhere, and of a vector; and the loop over single
 * cells itself. */
void ambit__rows_call_single(const ambit__rows_job *j, int n);
void ambit__rows_call_vector(const ambit__rows_job *j, int n, const char *tail);
void ambit__rows_call_ragged(const ambit__rows_job *j, int n);
void ambit__rows_emit_long_loop(const ambit__rows_job *j, int n);

#endif
