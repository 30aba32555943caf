/* SPDX-License-Identifier: BSD-3-Clause */
/* actions.c - what keys and the page can do. */
#include "base/clock.h"
#include "base/number.h"
#include "view/viewer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const ambit__key ambit__keys[] = {
    {' ', "pause=toggle", "pause, go on"},
    {'.', "step", "one iteration"},
    {'f', "field=+1", "next field"},
    {'F', "field=-1", "previous field"},
    {'c', "component=+1", "next component, their norm"},
    {'C', "component=-1", "previous component"},
    {']', "plane=+1", "next plane"},
    {'[', "plane=-1", "previous plane"},
    {'}', "plane=+10", "ten planes on"},
    {'{', "plane=-10", "ten planes back"},
    {'a', "axis=+1", "another axis"},
    {'m', "most=toggle", "maximum along the axis"},
    {'k', "colours=+1", "next colours"},
    {'K', "colours=-1", "previous colours"},
    {'l', "relief=toggle", "relief"},
    {'r', "range=toggle", "range: fixed, automatic"},
    {'+', "zoom=1.5", "zoom in"},
    {'=', "zoom=1.5", NULL},
    {'-', "zoom=0.66667", "zoom out"},
    {'0', "whole", "show all"},
    {(char)(AMBIT__KEY_ARROW + 'A'), "pan=-0.2:0", "up"},
    {(char)(AMBIT__KEY_ARROW + 'B'), "pan=0.2:0", "down"},
    {(char)(AMBIT__KEY_ARROW + 'D'), "pan=0:-0.2", "left"},
    {(char)(AMBIT__KEY_ARROW + 'C'), "pan=0:0.2", "right"},
    {'p', "save", "save a picture"},
    {'?', "help", "keys"},
    {'q', "quit", "end the view; the run goes on"},
    {0, NULL, NULL},
};

const char *ambit__key_command(unsigned char key)
{
  for (const ambit__key *k = ambit__keys; k->command; k++)
    if ((unsigned char)k->key == key) return k->command;
  return NULL;
}

/* ---- values ---- */

/* "+1" and "-1" are relative to `now`, "7" is not. */
static bool read_integer(const char *text, int64_t now, int64_t *out)
{
  char *end;
  const long long n = strtoll(text, &end, 10);

  if (end == text || *end || n > INT64_MAX / 4 || n < -INT64_MAX / 4) return false;
  *out = *text == '+' || *text == '-' ? now + n : n;
  return true;
}

static bool read_flag(const char *text, bool *flag)
{
  if (!strcmp(text, "toggle"))
    *flag = !*flag;
  else if (!strcmp(text, "1") || !strcmp(text, "0"))
    *flag = *text == '1';
  else
    return false;
  return true;
}

/* "0.5:2", two finite numbers */
static const char *read_pair(const char *text, double *a, double *b)
{
  const char *at = ambit__number_scan(text, a);

  at = at && *at == ':' ? ambit__number_scan(at + 1, b) : NULL;
  return at && isfinite(*a) && isfinite(*b) ? at : NULL;
}

/* ---- commands ---- */

static bool do_pause(ambit__viewer *v, const char *value)
{
  v->steps = 0;
  return read_flag(value, &v->paused);
}

static bool do_step(ambit__viewer *v, const char *value)
{
  (void)value;
  v->steps += v->paused;
  v->paused = true;
  return true;
}

static bool do_field(ambit__viewer *v, const char *value)
{
  int64_t n;

  if (*value == '+' || *value == '-') {
    if (!read_integer(value, 0, &n)) return false;
    ambit__sight_next_field(&v->scene, &v->sight, (int)(n % AMBIT__SCENE_FIELDS));
    return true;
  }
  for (int i = 0; i < v->scene.nfields; i++)
    if (!strcmp(v->scene.fields[i].name, value)) {
      ambit__sight_next_field(&v->scene, &v->sight, i - v->sight.field);
      return true;
    }
  return false;
}

static bool do_component(ambit__viewer *v, const char *value)
{
  const int n = v->scene.fields[v->sight.field].components;
  int64_t c;

  if (!strcmp(value, "norm")) return v->sight.component = AMBIT__VIEW_NORM, true;
  if (!read_integer(value, 0, &c)) return false;
  if (*value == '+' || *value == '-')
    ambit__sight_next_component(&v->scene, &v->sight, (int)(c % (n + 1)));
  else if (c < n)
    v->sight.component = (int)c;
  else
    return false;
  return true;
}

static bool do_plane(ambit__viewer *v, const char *value)
{
  const int axis = v->sight.axis;
  int64_t plane;

  if (axis < 0 || !read_integer(value, v->sight.plane[axis], &plane)) return false;
  ambit__sight_move_plane(&v->scene, &v->sight, plane - v->sight.plane[axis]);
  return true;
}

static bool do_axis(ambit__viewer *v, const char *value)
{
  int64_t axis;

  if (v->sight.axis < 0 || !read_integer(value, v->sight.axis, &axis)) return false;
  axis %= v->scene.ndims;
  while (v->sight.axis != axis && axis >= 0)
    ambit__sight_next_axis(&v->scene, &v->sight);
  return axis >= 0;
}

static bool do_most(ambit__viewer *v, const char *value)
{
  return v->sight.axis >= 0 && read_flag(value, &v->sight.most);
}

static bool do_colours(ambit__viewer *v, const char *value)
{
  enum { ALL = AMBIT__COLOUR_MAPS + 1 }; /* with automatic */
  ambit__colour_map map;
  int64_t n;

  if (!strcmp(value, "auto")) return v->style.map = 0, true;
  if (ambit__colour_find(value, &map)) return v->style.map = (int)map + 1, true;
  if ((*value != '+' && *value != '-') || !read_integer(value, 0, &n)) return false;
  v->style.map = (int)((v->style.map + n % ALL + ALL) % ALL);
  return true;
}

static bool do_relief(ambit__viewer *v, const char *value)
{
  return read_flag(value, &v->style.relief);
}

/* Fixed at the range of the last picture, automatic, or LO:HI. */
static bool do_range(ambit__viewer *v, const char *value)
{
  ambit__picture_options *s = &v->style;
  double lo = 0, hi = 0;

  if (!strcmp(value, "fixed") || (!strcmp(value, "toggle") && !(s->lo < s->hi))) {
    const ambit__picture p = ambit__frame_picture(&v->frame, s);

    lo = p.lo;
    hi = p.hi;
    if (!(lo < hi)) return false;
  } else if (strcmp(value, "auto") != 0 && strcmp(value, "toggle") != 0) {
    const char *end = read_pair(value, &lo, &hi);

    if (!end || *end || !(lo < hi)) return false;
  }
  s->lo = lo;
  s->hi = hi;
  return true;
}

/* FACTOR, or FACTOR@ROW:COLUMN, at fractions of the picture */
static bool do_zoom(ambit__viewer *v, const char *value)
{
  double factor, row = 0.5, column = 0.5;
  const char *at = ambit__number_scan(value, &factor);

  if (at && *at == '@') at = read_pair(at + 1, &row, &column);
  if (!at || *at || !(factor >= 0.01 && factor <= 100) || row < 0 || row > 1 || column < 0 ||
      column > 1)
    return false;
  ambit__sight_zoom(&v->scene, &v->sight, factor, row, column);
  return true;
}

static bool do_pan(ambit__viewer *v, const char *value)
{
  double rows, columns;
  const char *at = read_pair(value, &rows, &columns);

  if (!at || *at || fabs(rows) > 10 || fabs(columns) > 10) return false;
  ambit__sight_pan(&v->scene, &v->sight, rows, columns);
  return true;
}

static bool do_whole(ambit__viewer *v, const char *value)
{
  (void)value;
  ambit__sight_whole(&v->scene, &v->sight);
  return true;
}

static bool do_quit(ambit__viewer *v, const char *value)
{
  (void)value;
  v->gone = true;
  v->paused = false;
  return true;
}

static const struct {
  const char *name;
  bool has_value;
  bool (*run)(ambit__viewer *v, const char *value);
} commands[] = {
    {"pause", true, do_pause},         {"step", false, do_step},      {"field", true, do_field},
    {"component", true, do_component}, {"plane", true, do_plane},     {"axis", true, do_axis},
    {"most", true, do_most},           {"colours", true, do_colours}, {"relief", true, do_relief},
    {"range", true, do_range},         {"zoom", true, do_zoom},       {"pan", true, do_pan},
    {"whole", false, do_whole},        {"quit", false, do_quit},
};

bool ambit__viewer_do(ambit__viewer *v, const char *command)
{
  const size_t length = strcspn(command, "=");

  if (!v->scene.number) return false;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strlen(commands[i].name) == length && !strncmp(commands[i].name, command, length) &&
        commands[i].has_value == (command[length] == '=')) {
      if (!commands[i].run(v, command + length + commands[i].has_value)) return false;
      v->changes++;
      v->acted = ambit__clock();
      pthread_cond_signal(&v->changed);
      return true;
    }
  return false;
}
