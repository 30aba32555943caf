/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700 /* SIGPIPE */
#include "outputs.h"

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "io/colour.h"
#include "io/frames.h"
#include "io/png.h"
#include "runtime/objects/objects.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_hdf5(const char *path)
{
  return ambit__ends_in(path, ".vtkhdf") || ambit__ends_in(path, ".h5");
}

/* Films that ffmpeg writes. */
static bool is_encoded(const char *path)
{
  static const char *const tails[] = {".mp4", ".mkv", ".webm", ".mov", ".m4v",
                                      ".avi", ".ogv", ".gif",  NULL};

  for (int i = 0; tails[i]; i++)
    if (ambit__ends_in(path, tails[i])) return true;
  return false;
}

static bool is_film(const char *path)
{
  return is_encoded(path) || ambit__ends_in(path, ".y4m");
}

/* ---- options ---- */

bool tool_is_output_option(int id)
{
  return id >= OPT_OUTPUT && id <= OPT_RATE;
}

static int take_path(const tool_args *args, const char *path, tool_outputs *o)
{
  ambit__numbered numbered;

  if (!ambit__ends_in(path, ".npy") && !ambit__ends_in(path, ".png") && !is_hdf5(path) &&
      !is_film(path))
    return tool_wrong(
        args,
        "%s is '%s'; the name must end in .npy, .h5, .vtkhdf or .png, or for films in "
        ".y4m, .mp4, .mkv, .webm or .gif",
        args->option, path);
  if (strchr(path, '%') && !ambit__numbered_any(path, &numbered))
    return tool_wrong(args, "%s is '%s'; a number of iterations is written %%d or %%06d, once",
                      args->option, path);
  if (o->n == TOOL_OUTPUTS) return tool_wrong(args, "more than %d outputs", TOOL_OUTPUTS);
  o->paths[o->n++] = path;
  return TOOL_OK;
}

static int take_range(const tool_args *args, const char *value, ambit_picture *p)
{
  const char *at = ambit__number_scan(value, &p->lo);

  if (at && *at == ':') at = ambit__number_scan(at + 1, &p->hi);
  if (at && !*at && isfinite(p->lo) && isfinite(p->hi) && p->lo < p->hi) return TOOL_OK;
  return tool_wrong(args, "%s is '%s'; it must be two numbers, the lower one first: 0:1 or -2:2",
                    args->option, value);
}

static int take_colours(const tool_args *args, const char *value, ambit_picture *p)
{
  ambit__colour_map map;

  p->colours = value;
  if (ambit__colour_find(value, &map)) return TOOL_OK;
  return tool_wrong(args, "%s is '%s'; it must be " AMBIT__COLOUR_NAMES, args->option, value);
}

static int take_rate(const tool_args *args, const char *value, ambit_picture *p)
{
  const char *end = ambit__number_scan(value, &p->rate);

  if (end && !*end && p->rate > 0 && p->rate <= 1000) return TOOL_OK;
  return tool_wrong(args, "%s is '%s'; it must be a number of at most 1000", args->option, value);
}

int tool_outputs_option(const tool_args *args, int id, const char *value, tool_outputs *o)
{
  o->has_picture |= id == OPT_RANGE || id == OPT_COLOURS || id == OPT_SLICE || id == OPT_RELIEF;
  switch (id) {
  case OPT_OUTPUT: return take_path(args, value, o);
  case OPT_EVERY: return tool_read_count(args, value, 1, INT64_MAX, &o->every);
  case OPT_RANGE: return take_range(args, value, &o->picture);
  case OPT_COLOURS: return take_colours(args, value, &o->picture);
  case OPT_RELIEF: o->picture.relief = 1; return TOOL_OK;
  case OPT_SLICE: o->picture.slice = value; return TOOL_OK;
  case OPT_FIELD: o->field = value; return TOOL_OK;
  default: return take_rate(args, value, &o->picture);
  }
}

/* ---- checks ---- */

/* "u" or "u[1]". */
static int find_field(const tool_args *args, tool_outputs *o, const tool_problem *p)
{
  const ambit_param_info *in = &p->params[p->in], *out = &p->params[p->out];
  const size_t n = o->field ? strcspn(o->field, "[") : 0;
  char *end = NULL;

  if (!o->field) return TOOL_OK;
  o->is_out = p->in != p->out && strlen(out->name) == n && !strncmp(o->field, out->name, n);
  if (!o->is_out && (strlen(in->name) != n || strncmp(o->field, in->name, n)))
    return tool_wrong(args, "--field is '%s'; the kernel has %s%s%s", o->field, in->name,
                      p->in != p->out ? " and " : "", p->in != p->out ? out->name : "");
  if (!o->field[n]) return TOOL_OK;
  o->picture.component = (int)strtol(o->field + n + 1, &end, 10);
  o->has_picture = true;
  if (end > o->field + n + 1 && !strcmp(end, "]") && o->picture.component >= 0 &&
      o->picture.component < in->components)
    return TOOL_OK;
  return tool_wrong(args, "--field is '%s'; %.*s has the components 0 to %d", o->field, (int)n,
                    o->field, in->components - 1);
}

static int check_every(const tool_args *args, const tool_outputs *o)
{
  if (o->every && !o->n) return tool_wrong(args, "--every needs an output: -o out_%%06d.vtkhdf");
  for (int i = 0; i < o->n && !o->every; i++)
    if (is_film(o->paths[i]) || strchr(o->paths[i], '%'))
      return tool_wrong(args, "%s needs --every N, the iterations from one %s to the next",
                        o->paths[i], is_film(o->paths[i]) ? "frame" : "file");
  return TOOL_OK;
}

/* Whether a grid can be written in the format of a file. */
static ambit_status try_format(ambit *a, const char *path, int ndims)
{
  AMBIT_CHECK((!ambit__ends_in(path, ".png") && !is_film(path)) || ndims <= 3, &a->errors,
              AMBIT_EINVAL,
              "%s cannot be drawn: the grid has %d dimensions, and a picture shows 1, 2 or a plane "
              "of 3. Save it as .npy",
              path, ndims);
  AMBIT_CHECK(!ambit__ends_in(path, ".vtkhdf") || ndims <= 3, &a->errors, AMBIT_EINVAL,
              "%s cannot be written: the grid has %d dimensions, and VTK shows 1 to 3. Save it as "
              ".h5 or .npy",
              path, ndims);
  return ambit__ends_in(path, ".png") ? ambit__png_try(&a->errors, path) : AMBIT_OK;
}

static ambit_status try_file(ambit *a, const char *path)
{
  ambit__numbered numbered;
  char *name;
  ambit_status s;

  ambit__numbered_any(path, &numbered);
  name = ambit__numbered_name(NULL, &numbered, 0);
  AMBIT_CHECK(name, &a->errors, AMBIT_ENOMEM, "no memory for the name of a file");
  s = ambit__file_try(&a->errors, name);
  free(name);
  return s;
}

int tool_outputs_try(ambit *a, const tool_args *args, tool_outputs *o, const tool_problem *p)
{
  int code = check_every(args, o);

  if (!code) code = find_field(args, o, p);
  for (int i = 0; i < o->n && !ambit_process(a) && !code; i++)
    if (try_format(a, o->paths[i], p->size.ndims) || try_file(a, o->paths[i])) code = TOOL_FAILED;
  return code;
}

/* ---- writing ---- */

static ambit_field *field_of(const tool_outputs *o, const tool_job *job)
{
  return o->is_out ? job->out : job->in;
}

/* Starts ffmpeg on process 0; all get the path of its pipe. */
static ambit_status open_film(ambit *a, tool_outputs *o, int i)
{
  const char *pixels = strstr(o->paths[i], ".gif") ? NULL : "-pix_fmt yuv420p";

  if (!ambit_process(a)) {
    signal(SIGPIPE, SIG_IGN); /* an ffmpeg that has ended is an error, not the end */
    if (!tool_ffmpeg_write(a, o->paths[i], pixels, &o->films[i]))
      snprintf(o->pipes[i], sizeof o->pipes[i], "/dev/fd/%d", o->films[i].fd);
  }
  AMBIT_TRY(ambit__net_agree(a->net));
  return ambit__net_broadcast(a->net, 0, o->pipes[i], sizeof o->pipes[i]);
}

ambit_status tool_outputs_begin(ambit *a, tool_outputs *o, const tool_job *job)
{
  ambit_field *f = field_of(o, job);

  for (int i = 0; i < o->n && o->every; i++) {
    if (is_encoded(o->paths[i])) AMBIT_TRY(open_film(a, o, i));
    AMBIT_TRY(ambit_output(job->program, o->every, *o->pipes[i] ? o->pipes[i] : o->paths[i], 1, &f,
                           &o->picture));
  }
  return AMBIT_OK;
}

/* Files without a number get the last values. */
static ambit_status write_last(const tool_outputs *o, const tool_job *job, const char *path)
{
  if (strchr(path, '%') || is_film(path)) return AMBIT_OK;
  if (o->has_picture && ambit__ends_in(path, ".png"))
    return ambit_field_draw(field_of(o, job), path, &o->picture);
  return ambit_field_save(field_of(o, job), path);
}

ambit_status tool_outputs_end(ambit *a, tool_outputs *o, const tool_job *job)
{
  bool failed = ambit_error(a) != AMBIT_OK;

  for (int i = 0; i < o->n && !failed; i++)
    failed = write_last(o, job, o->paths[i]) != AMBIT_OK;
  if (job->program) ambit_output_end(job->program);
  for (int i = 0; i < o->n; i++)
    if (o->films[i].child) tool_ffmpeg_end(a, &o->films[i], !failed);
  return ambit_error(a);
}
