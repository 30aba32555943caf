/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "view/answers.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { STEPS = 65534, NOTHING = 65535, SHADES = 256 };

static void print_text(const char *text, ambit__text *out)
{
  ambit__print(out, "\"");
  for (; *text; text++)
    if (*text == '"' || *text == '\\' || (unsigned char)*text < 32)
      ambit__print(out, "\\u%04x", (unsigned char)*text);
    else
      ambit__print_chars(out, text, 1);
  ambit__print(out, "\"");
}

static void print_number(double x, ambit__text *out)
{
  if (isfinite(x))
    ambit__print(out, "%.9g", x);
  else
    ambit__print(out, "null");
}

static void print_maps(ambit__text *out)
{
  ambit__rgb table[AMBIT__COLOURS];

  ambit__print(out, "\"maps\":[");
  for (int i = 0; i < AMBIT__COLOUR_MAPS; i++) {
    ambit__colour_table((ambit__colour_map)i, table);
    ambit__print(out, "%s{\"name\":\"%s\",\"colours\":\"", i ? "," : "",
                 ambit__colour_name((ambit__colour_map)i));
    for (int k = 0; k < SHADES; k++) {
      const ambit__rgb c = table[k * (AMBIT__COLOURS - 1) / (SHADES - 1)];

      ambit__print(out, "%02x%02x%02x", c.r, c.g, c.b);
    }
    ambit__print(out, "\"}");
  }
  ambit__print(out, "]");
}

static void print_keys(ambit__text *out)
{
  static const char *const arrows[] = {"ArrowUp", "ArrowDown", "ArrowRight", "ArrowLeft"};
  char name[2] = "";

  ambit__print(out, ",\"keys\":[");
  for (const ambit__key *k = ambit__keys; k->command; k++) {
    const unsigned char key = (unsigned char)k->key;

    name[0] = k->key;
    ambit__print(out, "%s{\"key\":", k == ambit__keys ? "" : ",");
    print_text(key >= AMBIT__KEY_ARROW ? arrows[key - AMBIT__KEY_ARROW - 'A'] : name, out);
    ambit__print(out, ",\"command\":");
    print_text(k->command, out);
    ambit__print(out, ",\"help\":");
    print_text(k->help ? k->help : "", out);
    ambit__print(out, "}");
  }
  ambit__print(out, "]");
}

static void print_history(const ambit__viewer *v, ambit__text *out)
{
  ambit__print(out, ",\"history\":[");
  for (int i = 0; i < v->npoints; i++) {
    const ambit__point *p = &v->history[i];

    ambit__print(out, "%s[%" PRId64 ",", i ? "," : "", p->iteration);
    print_number(p->lo, out);
    ambit__print(out, ",");
    print_number(p->hi, out);
    for (int k = 0; k < v->scene.nscalars; k++) {
      ambit__print(out, ",");
      print_number(p->scalars[k], out);
    }
    ambit__print(out, "]");
  }
  ambit__print(out, "]");
}

void ambit__answer_scene(const ambit__viewer *v, ambit__text *out)
{
  const ambit__scene *s = &v->scene;

  ambit__print(out, "{\"scene\":%" PRId64 ",\"title\":", s->number);
  print_text(program_invocation_short_name, out);
  ambit__print(out, ",\"extents\":[");
  for (int d = 0; d < s->ndims; d++)
    ambit__print(out, "%s%" PRId64, d ? "," : "", s->extents[d]);
  ambit__print(out, "],\"axes\":\"");
  for (int d = 0; d < s->ndims; d++)
    ambit__print(out, "%c", ambit__axis_name(s->ndims, d));
  ambit__print(out, "\",\"fields\":[");
  for (int i = 0; i < s->nfields; i++) {
    ambit__print(out, "%s{\"name\":", i ? "," : "");
    print_text(s->fields[i].name, out);
    ambit__print(out, ",\"components\":%d}", s->fields[i].components);
  }
  ambit__print(out, "],\"scalars\":[");
  for (int i = 0; i < s->nscalars; i++) {
    if (i) ambit__print(out, ",");
    print_text(s->scalar_names[i], out);
  }
  ambit__print(out, "],");
  print_maps(out);
  print_keys(out);
  print_history(v, out);
  ambit__print(out, "}\n");
}

/* ---- pictures ---- */

static void print_sight(const ambit__viewer *v, const ambit__sight *x, ambit__text *out)
{
  char title[100];

  ambit__sight_print(&v->scene, x, title, sizeof title);
  ambit__print(out, ",\"title\":");
  print_text(title, out);
  ambit__print(out, ",\"field\":%d,\"component\":%d,\"axis\":%d,\"most\":%d,\"plane\":%" PRId64,
               x->field, x->component, x->axis, x->most, x->axis < 0 ? 0 : x->plane[x->axis]);
  ambit__print(out,
               ",\"rect\":[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "],\"row_axis\":%d,"
               "\"column_axis\":%d",
               x->lo[0], x->hi[0], x->lo[1], x->hi[1], ambit__sight_rows(&v->scene, x),
               ambit__sight_columns(&v->scene, x));
}

/* The values of the first and the last step. */
static void find_steps(const ambit__viewer *v, double *lo, double *hi)
{
  const ambit__frame *f = &v->frame;
  const bool whole = f->scene == v->scene.number && v->scene.fields[f->sight.field].whole &&
                     f->sight.component >= 0 && f->pixels.block == 1;

  *lo = f->pixels.lo <= f->pixels.hi ? f->pixels.lo : 0;
  *hi = f->pixels.lo <= f->pixels.hi ? f->pixels.hi : 0;
  if (whole && *hi - *lo <= STEPS) *hi = *lo + STEPS;
}

void ambit__answer_values(const ambit__values *v, ambit__text *out)
{
  const double lo = v->lo, scale = v->hi > lo ? STEPS / (v->hi - lo) : 0;
  enum { PIECE = 4096 };
  unsigned char piece[2 * PIECE];

  for (int64_t at = 0; at < v->n; at += PIECE) {
    const int64_t here = v->n - at < PIECE ? v->n - at : PIECE;

    for (int64_t i = 0; i < here; i++) {
      const double x = v->values[at + i], step = (x - lo) * scale + 0.5;
      const double within = step > 0 ? (step < STEPS ? step : STEPS) : 0; /* NaN: 0 */
      const int value = x == x ? (int)within : NOTHING;

      piece[2 * i] = (unsigned char)value;
      piece[2 * i + 1] = (unsigned char)(value >> 8);
    }
    ambit__print_chars(out, (const char *)piece, (size_t)(2 * here));
  }
}

void ambit__answer_frame(const ambit__viewer *v, bool controls, ambit__text *out,
                         ambit__values *values)
{
  const ambit__frame *f = &v->frame;
  const ambit__picture p = ambit__frame_picture(f, &v->style);
  const size_t start = out->len;
  double lo, hi;

  find_steps(v, &lo, &hi);
  *values = (ambit__values){
      .values = f->pixels.values, .n = (int64_t)f->pixels.rows * f->pixels.columns, lo, hi};
  ambit__print(out,
               "{\"number\":%" PRId64 ",\"scene\":%" PRId64 ",\"iteration\":%" PRId64
               ",\"goal\":%" PRId64,
               f->number, f->scene, f->iteration, f->goal);
  ambit__print(out, ",\"per_second\":%.6g,\"cells\":%.6g,\"share\":%.4g", f->per_second, f->cells,
               f->share);
  ambit__print(out, ",\"paused\":%d,\"held\":%d,\"ended\":%d,\"controls\":%d", v->paused,
               ambit__frame_is_held(v, f), f->ended, controls);
  print_sight(v, &f->sight, out);
  ambit__print(out, ",\"rows\":%d,\"columns\":%d,\"block\":%" PRId64 ",\"lo\":%.17g,\"hi\":%.17g",
               f->pixels.rows, f->pixels.columns, f->pixels.block, lo, hi);
  ambit__print(out, ",\"least\":");
  print_number(f->pixels.lo, out);
  ambit__print(out, ",\"greatest\":");
  print_number(f->pixels.hi, out);
  ambit__print(out, ",\"map\":\"%s\",\"asked\":%d,\"relief\":%d,\"fixed\":%d,\"range\":[%.9g,%.9g]",
               ambit__colour_name(p.map), v->style.map, v->style.relief, v->style.lo < v->style.hi,
               p.lo, p.hi);
  ambit__print(out, ",\"scalars\":[");
  for (int i = 0; i < v->scene.nscalars; i++) {
    if (i) ambit__print(out, ",");
    print_number(f->scalars[i], out);
  }
  ambit__print(out, "]}");
  if ((out->len - start) % 2 == 0) ambit__print(out, " ");
  ambit__print(out, "\n");
  if (!values->values) values->n = 0;
}
