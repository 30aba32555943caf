/* SPDX-License-Identifier: BSD-3-Clause */
/* most.c - the greatest values of a lattice along an axis, found by all threads.
 *
 * A line is a row of results: those along the last axis, or along the one before it if the greatest
 * values along the last are wanted. Threads share the lines; of a line, plane after plane is folded
 * into the results, so that memory is read in its order. 128 planes of 512^3 floats: on 16 Xeon
 * cores one thread took 64 ms, in which the others waited.
 */
#include "device/cpu/cpu.h"
#include "kernel/value.h"

#include <math.h>
#include <string.h>

static const double CELL_NS = 1; /* of one thread, roughly */

typedef struct job {
  const ambit__store *src;
  const ambit__lattice *l;
  int axis, across;        /* of planes; of the cells of a line */
  bool norm;               /* of all components: one value per cell */
  int64_t apart, step;     /* values between planes, and between cells of a line */
  int64_t lines;           /* all */
  unsigned char *dst;      /* all results */
  const unsigned char *at; /* the first value of the store */
} job;

/* ---- one line ---- */

/* NaN does not count, and anything counts more. */
#define FOLD(to, v)                                                                                \
  if (k == 0 || (v) > (to) || (to) != (to)) (to) = (v)

#define LINE(type)                                                                                 \
  do {                                                                                             \
    type *results = (type *)(void *)to;                                                            \
                                                                                                   \
    for (int64_t k = 0; k < planes; k++)                                                           \
      for (int c = 0; c < components; c++) {                                                       \
        const type *in = (const type *)(const void *)from + k * j->apart + c * component;          \
                                                                                                   \
        for (int64_t i = 0; i < cells; i++)                                                        \
          FOLD(results[i * components + c], in[i * j->step]);                                      \
      }                                                                                            \
  } while (0)

#define NORM_LINE(type)                                                                            \
  do {                                                                                             \
    type *results = (type *)(void *)to;                                                            \
                                                                                                   \
    for (int64_t k = 0; k < planes; k++)                                                           \
      for (int64_t i = 0; i < cells; i++) {                                                        \
        const type *in = (const type *)(const void *)from + k * j->apart + i * j->step;            \
        double sum = 0;                                                                            \
                                                                                                   \
        for (int c = 0; c < components; c++)                                                       \
          sum += (double)in[c * component] * (double)in[c * component];                            \
        FOLD(results[i], (type)sqrt(sum));                                                         \
      }                                                                                            \
  } while (0)

/* Values that C has no type for. */
static void decode_line(const job *j, const unsigned char *from, unsigned char *to)
{
  const ambit__layout *l = &j->src->layout;
  const int64_t size = (int64_t)ambit_type_size(l->type), cells = j->l->count[j->across];

  for (int64_t i = 0; i < cells * l->components; i++) {
    const int64_t first = i / l->components * j->step + i % l->components * l->component;
    double most = 0;

    for (int64_t k = 0; k < j->l->count[j->axis]; k++) {
      const unsigned char *in = from + (first + k * j->apart) * size;
      const double v = ambit__value_number(ambit__value_load(in, l->type), l->type);

      if (k && !(v > most) && !isnan(most)) continue;
      most = v;
      memcpy(to + i * size, in, (size_t)size);
    }
  }
}

static void run_line(const job *j, const unsigned char *from, unsigned char *to)
{
  const ambit__layout *l = &j->src->layout;
  const int64_t planes = j->l->count[j->axis], cells = j->l->count[j->across];
  const int64_t component = l->component;
  const int components = l->components;

  if (j->norm && l->type == AMBIT_F32)
    NORM_LINE(float);
  else if (j->norm)
    NORM_LINE(double);
  else
    switch (l->type) {
    case AMBIT_F32: LINE(float); break;
    case AMBIT_F64: LINE(double); break;
    case AMBIT_I32: LINE(int32_t); break;
    case AMBIT_U8: LINE(uint8_t); break;
    case AMBIT_I16: LINE(int16_t); break;
    case AMBIT_I64: LINE(int64_t); break;
    case AMBIT_U16: LINE(uint16_t); break;
    case AMBIT_U32: LINE(uint32_t); break;
    case AMBIT_U64: LINE(uint64_t); break;
    default: decode_line(j, from, to); break;
    }
}

/* ---- all lines ---- */

static void run_lines(void *arg, int thread, int threads)
{
  const job *j = arg;
  const ambit__layout *l = &j->src->layout;
  const int64_t size = (int64_t)ambit_type_size(l->type);
  const int64_t bytes = j->l->count[j->across] * (j->norm ? 1 : l->components) * size;
  const int64_t end = j->lines * (thread + 1) / threads;

  for (int64_t line = j->lines * thread / threads; line < end; line++) {
    int64_t cell[AMBIT_MAX_DIMS], rest = line;

    for (int d = l->own.ndims - 1; d >= 0; d--) {
      const int64_t n = d == j->axis || d == j->across ? 1 : j->l->count[d];

      cell[d] = j->l->first[d] + rest % n * j->l->step[d];
      rest /= n;
    }
    run_line(j, j->at + ambit__layout_at(l, cell) * size, j->dst + line * bytes);
  }
}

ambit_status ambit__cpu_most(ambit__queue *q, const ambit__command *c)
{
  const ambit__store *src = c->most.src;
  const ambit__lattice *l = c->most.lattice;
  const int axis = c->most.axis;
  const ambit__cpu *d = (const ambit__cpu *)q->device;
  const int last = src->layout.own.ndims - 1;
  job j = {.src = src, .l = l, .axis = axis, .norm = c->most.norm, .lines = 1, .dst = c->most.dst};
  double values = src->layout.components;

  j.across = axis < last ? last : last - 1;
  j.apart = l->step[axis] * src->layout.stride[axis];
  j.step = l->step[j.across] * src->layout.stride[j.across];
  j.at = ambit__host_base(src->buffer);
  for (int k = 0; k <= last; k++) {
    if (k != axis && k != j.across) j.lines *= l->count[k];
    values *= (double)l->count[k];
  }
  ambit__pool_run(d->pool, ambit__cpu_threads_for(d, CELL_NS * values), run_lines, &j);
  return AMBIT_OK;
}
