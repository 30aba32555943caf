/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - saves records: NumPy arrays, text, and plots. Process 0 writes. */
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/npy.h"
#include "io/png.h"
#include "runtime/program/program.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  WIDTH = 900,
  HEIGHT = 450,
  CURVES = 8
}; /* of a plot, in pixels; most columns that it draws */

static double value_at(const ambit_record *r, int64_t row, int64_t column)
{
  return r->values[row * r->columns + column];
}

/* ---- arrays ---- */

static ambit_status save_npy(ambit_record *r, int64_t rows, const char *path)
{
  const ambit_type type = r->is_typed ? r->type : AMBIT_F64;
  const ambit__npy_info form = {.type = type,
                                .ndims = r->columns > 1 ? 2 : 1,
                                .shape = {rows, r->columns > 1 ? r->columns : 0}};
  ambit__file *file;

  AMBIT_TRY(ambit__npy_create(&r->context->errors, path, &form, &file));
  for (int64_t i = 0; i < rows * r->columns; i++) { /* the end reports a failure */
    const float narrow = (float)r->values[i];

    if (type == AMBIT_F32)
      ambit__file_write(file, &narrow, sizeof narrow);
    else
      ambit__file_write(file, &r->values[i], sizeof *r->values);
  }
  return ambit__file_commit(file);
}

/* ---- text ---- */

/* The numbers of the iterations (of rows that no step sampled, the numbers of the rows), then the
 * columns, with all digits of their type. */
static ambit_status save_csv(ambit_record *r, int64_t rows, const char *path)
{
  const int digits = r->is_typed && r->type == AMBIT_F32 ? 9 : 17;
  ambit__file *file;
  char text[64];
  int n;

  AMBIT_TRY(ambit__file_create(&r->context->errors, path, &file));
  ambit__file_write(file, r->nstretches ? "iteration" : "row", r->nstretches ? 9 : 3);
  for (int64_t c = 0; c < r->columns; c++) {
    n = r->columns > 1 ? snprintf(text, sizeof text, ",%.40s %lld", r->name, (long long)c)
                       : snprintf(text, sizeof text, ",%.40s", r->name);
    ambit__file_write(file, text, (size_t)n);
  }
  for (int64_t i = 0; i < rows; i++) {
    n = snprintf(text, sizeof text, "\n%lld",
                 (long long)(r->nstretches ? ambit__record_iteration(r, i) : i));
    ambit__file_write(file, text, (size_t)n);
    for (int64_t c = 0; c < r->columns; c++) {
      n = snprintf(text, sizeof text, ",%.*g", digits, value_at(r, i, c));
      ambit__file_write(file, text, (size_t)n);
    }
  }
  ambit__file_write(file, "\n", 1);
  return ambit__file_commit(file); /* reports a failure of any write */
}

/* ---- pictures ---- */

/* The values of colours: 0 is white, the frame is grey, curves have the others. */
typedef struct plot {
  const ambit_record *r;
  int64_t rows;
  double lo, hi;
  float *pixels; /* HEIGHT x WIDTH */
} plot;

static void find_range(plot *p)
{
  ambit__finite_range(p->r->values, p->rows * p->r->columns, &p->lo, &p->hi);
  if (!(p->lo < p->hi)) {
    const double x = isfinite(p->lo) ? p->lo : 0, margin = fmax(1, 0.001 * fabs(x));

    p->lo = fmax(x - margin, -DBL_MAX);
    p->hi = fmin(x + margin, DBL_MAX);
  }
}

static int pixel_of(const plot *p, double x)
{
  /* halves: the length of the range may be beyond the range of double */
  const double at = (p->hi / 2 - x / 2) / (p->hi / 2 - p->lo / 2) * (HEIGHT - 61) + 30;

  return (int)(at < 0 ? 0 : at > HEIGHT - 1 ? HEIGHT - 1 : at);
}

static int64_t column_of(const plot *p, int64_t row)
{
  return p->rows > 1 ? 10 + row * (WIDTH - 21) / (p->rows - 1) : WIDTH / 2;
}

static void dot(plot *p, int64_t x, int64_t y, float colour)
{
  if (x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT) p->pixels[y * WIDTH + x] = colour;
}

/* A straight line, two pixels wide. */
static void draw_line(plot *p, int64_t x0, int64_t y0, int64_t x1, int64_t y1, float colour)
{
  const int64_t dx = x1 - x0, dy = y1 - y0, n = llabs(dx) > llabs(dy) ? llabs(dx) : llabs(dy);

  for (int64_t k = 0; k <= n; k++) {
    const int64_t x = n ? x0 + dx * k / n : x0, y = n ? y0 + dy * k / n : y0;

    for (int64_t i = 0; i < 4; i++)
      dot(p, x + i % 2, y + i / 2, colour);
  }
}

static void draw_curve(plot *p, int64_t column)
{
  static const float colours[CURVES] = {1, -1, 0.6f, -0.6f, 0.8f, -0.8f, 0.4f, -0.4f};
  int64_t before = -1; /* the row of the last finite value, if it is the one before */

  for (int64_t i = 0; i < p->rows; i++) {
    const double x = value_at(p->r, i, column);
    const int64_t from = before < 0 ? i : before;

    before = isfinite(x) ? i : -1;
    if (before >= 0)
      draw_line(p, column_of(p, from), pixel_of(p, value_at(p->r, from, column)), column_of(p, i),
                pixel_of(p, x), colours[column % CURVES]);
  }
}

/* A number, in letters of 5 x 7 dots of 2 x 2 pixels, of which the low 5 bits of a byte are a row.
 */
static void write_number(plot *p, int64_t x, int64_t y, double number)
{
  static const char letters[] = "0123456789.-+e";
  static const unsigned char rows[][7] = {
      {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},   {14, 17, 1, 2, 4, 8, 31},
      {31, 2, 4, 2, 1, 17, 14},     {2, 6, 10, 18, 31, 2, 2},  {31, 16, 30, 1, 1, 17, 14},
      {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},    {14, 17, 17, 14, 17, 17, 14},
      {14, 17, 17, 15, 1, 2, 12},   {0, 0, 0, 0, 0, 12, 12},   {0, 0, 0, 31, 0, 0, 0},
      {0, 4, 4, 31, 4, 4, 0},       {0, 0, 14, 17, 31, 16, 14}};
  char text[32];
  int n = snprintf(text, sizeof text, "%.4g", number);

  if (x > WIDTH / 2) x -= n * 12; /* to its left */
  for (const char *c = text; *c; c++, x += 12) {
    const char *letter = strchr(letters, *c);

    for (int64_t r = 0; letter && r < 14; r++)
      for (int64_t d = 0; d < 10; d++)
        if (rows[letter - letters][r / 2] >> (4 - d / 2) & 1) dot(p, x + d, y + r, -0.5f);
  }
}

static void draw_frame(plot *p)
{
  for (int64_t x = 0; x < WIDTH; x++)
    p->pixels[x] = p->pixels[(HEIGHT - 1) * WIDTH + x] = -0.2f;
  for (int64_t y = 0; y < HEIGHT; y++)
    p->pixels[y * WIDTH] = p->pixels[y * WIDTH + WIDTH - 1] = -0.2f;
  for (int64_t x = 0; p->lo < 0 && p->hi > 0 && x < WIDTH; x++)
    p->pixels[pixel_of(p, 0) * WIDTH + x] = -0.2f; /* where values are 0 */
}

/* The greatest and the least value, and the iteration or number of the last row. */
static void write_range(plot *p)
{
  write_number(p, 14, 8, p->hi);
  write_number(p, 14, HEIGHT - 22, p->lo);
  if (p->rows > 1) {
    const int64_t row = p->rows - 1, iteration = ambit__record_iteration(p->r, row);

    write_number(p, WIDTH - 12, HEIGHT - 22, (double)(iteration ? iteration : row));
  }
}

static ambit_status get_pixels(void *user, int64_t y, double *row)
{
  const plot *p = user;

  for (int64_t x = 0; x < WIDTH; x++)
    row[x] = (double)p->pixels[y * WIDTH + x];
  return AMBIT_OK;
}

static ambit_status save_plot(ambit_record *r, int64_t rows, const char *path)
{
  const ambit__picture_options options = {.map = AMBIT__TIDE + 1, .lo = -1, .hi = 1, .min_side = 1};
  plot p = {.r = r, .rows = rows};
  ambit_status s;

  AMBIT_NEW(&r->context->errors, p.pixels, (size_t)WIDTH * HEIGHT);
  find_range(&p);
  draw_frame(&p);
  for (int64_t c = 0; c < r->columns; c++)
    draw_curve(&p, c);
  write_range(&p);
  s = ambit__png_write(&r->context->errors, path, WIDTH, HEIGHT, get_pixels, &p, &options);
  free(p.pixels);
  return s;
}

static ambit_status get_row(void *user, int64_t y, double *row)
{
  const ambit_record *r = user;

  memcpy(row, r->values + y * r->columns, (size_t)r->columns * sizeof *row);
  return AMBIT_OK;
}

/* ---- by name ---- */

static ambit_status save(ambit_record *r, const char *path)
{
  const int64_t rows = ambit__record_count(r);

  AMBIT_CHECK(rows && r->columns, &r->context->errors, AMBIT_EINVAL,
              "record '%s' has no rows to save in %s", r->name, path);
  if (ambit__ends_in(path, ".npy")) return save_npy(r, rows, path);
  if (ambit__ends_in(path, ".csv")) return save_csv(r, rows, path);
  if (ambit__ends_in(path, ".png") && r->columns <= CURVES) return save_plot(r, rows, path);
  if (ambit__ends_in(path, ".png"))
    return ambit__png_write(&r->context->errors, path, r->columns, rows, get_row, r, NULL);
  return ambit__raise(&r->context->errors, AMBIT_EINVAL,
                      "record '%s' cannot be saved as %s: the name must end in .npy, .csv or .png",
                      r->name, path);
}

ambit_status ambit_record_save(ambit_record *r, const char *path)
{
  ambit__journal *journal;
  char doing[160];

  if (!r) return AMBIT_EINVAL;
  journal = &r->context->journal;
  snprintf(doing, sizeof doing, "saves record '%.20s' in %.90s", r->name, path ? path : "NULL");
  AMBIT_TRY(ambit__meet(r->context, doing));
  if (ambit__journal_replay(&r->context->errors, journal, ENTRY_SAVE, NULL, 0))
    return r->context->errors.status;
  AMBIT_TRY(ambit__record_collect(r));
  if (!r->context->net->rank) {
    if (path)
      save(r, path);
    else
      ambit__raise(&r->context->errors, AMBIT_EINVAL, "record '%s': the file name is NULL",
                   r->name);
  }
  AMBIT_TRY(ambit__net_agree(r->context->net));
  ambit__journal_record(journal, ENTRY_SAVE, NULL, 0);
  return AMBIT_OK;
}
