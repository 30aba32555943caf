/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - `ambit stream`: applies a stencil to every frame of a video, or to numbered pictures.
 */
#include "skeleton/stream.h"
#include "base/clock.h"
#include "ffmpeg.h"
#include "problem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 1, STEPS_UNTIL = 100000 };

typedef struct order {
  tool_problem problem;
  const char *input, *output, *encode;
  int64_t steps, in_flight;
  bool has_steps, all_planes, quiet;
  tool_until until;
} order;

/* ---- the command line ---- */

enum { INPUT = 1, OUTPUT, LANES, STEPS_ID, UNTIL, PLANES, IN_FLIGHT, ENCODE, QUIET };

static const tool_option options[] = {
    {INPUT, 'i', "input", "FILE",
     "a video (.y4m; other formats through ffmpeg), a picture\n(in.png), numbered ones "
     "(in%04d.png), or - for Y4M on\nstandard input"},
    {OUTPUT, 'o', "output", "FILE", "the same for the result; - is standard output"},
    {ENCODE, 0, "encode", "OPTIONS",
     "options of ffmpeg for the output, separated by blanks:\n'-crf 18 -pix_fmt yuv420p'"},
    {LANES, 0, "lanes", "LIST",
     "devices that take frames in turn: cpu,opencl:0;\nseveral devices per frame: "
     "(cuda:0,cuda:1),(cuda:2,cuda:3)"},
    {STEPS_ID, 'n', "steps", "N", "iterations per frame (default: 1; at most 100000 with --until)"},
    {UNTIL, 0, "until", "COND",
     "end a frame when a reduction of the kernel meets a\ncondition: 'delta<1e-4'"},
    {PLANES, 0, "planes", "WHICH",
     "y: luma, other planes are copied (default); all: every\nplane; pictures in colour: always "
     "all"},
    {IN_FLIGHT, 0, "in-flight", "N", "most frames in memory (default: 2 per worker, and 2)"},
    TOOL_OPTION_TYPE,
    TOOL_OPTION_BOUNDARY,
    TOOL_OPTION_SET,
    TOOL_OPTION_DEVICE,
    TOOL_OPTION_STRICT,
    TOOL_OPTION_THREADS,
    {QUIET, 'q', "quiet", NULL, "no progress line, and a summary only after an error"},
    {0},
};

static int take_planes(const tool_args *args, const char *value, order *o)
{
  o->all_planes = !strcmp(value, "all");
  if (o->all_planes || !strcmp(value, "y")) return TOOL_OK;
  return tool_wrong(args, "%s is '%s'; it must be y or all", args->option, value);
}

static int take(ambit *a, const tool_args *args, int id, const char *value, order *o)
{
  switch (id) {
  case TOOL_WORD: return tool_problem_word(args, value, &o->problem);
  case INPUT: o->input = value; return TOOL_OK;
  case OUTPUT: o->output = value; return TOOL_OK;
  case LANES: return ambit_option_set(a, "lanes", value) ? TOOL_USAGE : TOOL_OK;
  case STEPS_ID: o->has_steps = true; return tool_read_count(args, value, 1, INT64_MAX, &o->steps);
  case UNTIL: return tool_read_until(args, value, &o->until);
  case PLANES: return take_planes(args, value, o);
  case IN_FLIGHT: return tool_read_count(args, value, 1, 1000000, &o->in_flight);
  case ENCODE: o->encode = value; return TOOL_OK;
  case QUIET: o->quiet = true; return TOOL_OK;
  default: return tool_problem_option(a, args, id, value, &o->problem);
  }
}

static int prepare(ambit *a, const tool_args *args, order *o)
{
  static const tool_size any = {.ndims = 2, .extents = {16, 16}}; /* frames give the size */
  int code;

  if (o->encode && o->output && tool_is_stream_file(o->output, o->input ? o->input : ""))
    return tool_wrong(args, "--encode has options for ffmpeg, which does not write %s", o->output);
  if (!o->input || !o->output)
    return tool_wrong(args, "the %s is missing: -%c FILE", o->input ? "output" : "input",
                      o->input ? 'o' : 'i');
  if (o->until.name[0] && !o->has_steps) o->steps = STEPS_UNTIL;
  if ((code = tool_problem_load(a, args, &o->problem))) return code;
  if ((code = tool_problem_bind(args, &o->problem))) return code;
  if (o->problem.ndims && o->problem.ndims != 2)
    return tool_wrong(args, "%s has %d dimension%s; frames have 2", o->problem.what,
                      o->problem.ndims, o->problem.ndims == 1 ? "" : "s");
  o->problem.size = any;
  return tool_problem_shape(args, &o->problem);
}

/* ---- running ---- */

/* A stream that a signal is to end. */
typedef struct stoppable {
  ambit_stream *stream;
  bool quiet;
} stoppable;

static void stop(void *user)
{
  const stoppable *s = user;

  if (!s->quiet)
    fputs("\nfinishing: frames that were read are written; a second Ctrl-C ends at once\n", stderr);
  ambit_stream_stop(s->stream);
}

/* Runs the stream; *broke: a pipe to ffmpeg did, and ffmpeg knows the reason. */
static ambit_status run_to(ambit *a, const order *o, ambit_stream *s, bool to_ffmpeg, bool *broke)
{
  const ambit_error_fn handler = a->errors.handler;
  ambit_status status;

  if (to_ffmpeg) a->errors.handler = NULL;
  status = ambit_stream_run(s, o->input, o->output);
  *broke = status && to_ffmpeg && strstr(ambit_error_text(a), strerror(EPIPE));
  a->errors.handler = handler;
  if (status && to_ffmpeg && !*broke) handler(status, ambit_error_text(a), a->errors.user);
  return status;
}

/* The files that the stream itself reads and writes: pipes, if ffmpeg is at their other end.
 * *written: the frames are in the output. */
static ambit_status run_between(ambit *a, const order *o, ambit_stream *s, bool *written)
{
  tool_ffmpeg in = {.fd = -1, .words = -1}, out = {.fd = -1, .words = -1};
  stoppable to_stop = {s, o->quiet};
  const bool reads = !tool_is_stream_file(o->input, o->output);
  const bool writes = !tool_is_stream_file(o->output, o->input);
  ambit_status status = AMBIT_OK;
  bool broke = false;

  if (!ambit_process(a) && reads) status = tool_ffmpeg_read(a, o->input, &in);
  if (!ambit_process(a) && writes && !status)
    status = tool_ffmpeg_write(a, o->output, o->encode, &out);
  tool_on_signal(stop, &to_stop);
  if (!status && s) {
    s->in_fd = in.child ? in.fd : 0;
    s->out_fd = out.child ? out.fd : 0;
  }
  if (!status) status = run_to(a, o, s, out.child != 0, &broke);
  tool_on_signal(NULL, NULL);
  if (reads) tool_ffmpeg_end(a, &in, !status && !tool_signal());
  *written = !writes || tool_ffmpeg_end(a, &out, ambit_stream_items(s) > 0 || broke);
  return status ? status : ambit_error(a);
}

static int tell_unmet(const order *o, const ambit_stream *s)
{
  fprintf(tool_notes,
          "ambit stream: %" PRId64 " of %" PRId64 " frames did not meet %s in %" PRId64
          " iterations\n",
          ambit_stream_unmet(s), ambit_stream_items(s), o->until.text, o->steps);
  return TOOL_FAILED;
}

static int execute(ambit *a, const tool_args *args, const order *o)
{
  const double start = ambit__clock();
  ambit_stream *s;
  ambit_status status;
  tool_job job;
  int until = -1;
  bool written;

  if (o->until.name[0] && (until = tool_problem_reduction(args, &o->problem, o->until.name)) < 0)
    return TOOL_USAGE;
  if (tool_job_open(a, &o->problem, o->problem.kernel, &job)) return TOOL_FAILED;
  s = ambit_stream_create(job.program, job.in, job.in);
  ambit_stream_repeat(s, o->steps);
  ambit_stream_in_flight(s, o->in_flight);
  ambit_stream_planes(s, o->all_planes ? AMBIT_ALL_PLANES : AMBIT_LUMA);
  if (until >= 0)
    ambit_stream_repeat_until(s, job.scalars[until], o->until.when, o->until.value, o->steps);
  if (!o->quiet && isatty(STDERR_FILENO)) ambit_option_set(a, "progress", "1");
  status = run_between(a, o, s, &written);
  if (written && (status ? ambit_stream_items(s) > 0 : !o->quiet))
    fprintf(tool_notes, "%s: %" PRId64 " frame%s in %.3g s, %.1f frames/s\n", o->problem.what,
            ambit_stream_items(s), ambit_stream_items(s) == 1 ? "" : "s", ambit__clock() - start,
            (double)ambit_stream_items(s) / (ambit__clock() - start));
  if (tool_signal()) return 128 + tool_signal();
  if (!status && ambit_stream_unmet(s)) return tell_unmet(o, s);
  return status ? TOOL_FAILED : TOOL_OK;
}

static int run(ambit *a, tool_args *args)
{
  order o = {.steps = STEPS};
  const char *value;
  int id, code;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_stream);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if ((code = take(a, args, id, value, &o))) return code;
  }
  code = prepare(a, args, &o);
  return code ? code : execute(a, args, &o);
}

const tool_command tool_stream = {
    .name = "stream",
    .words = "NAME|FILE.c|FILE.weights -i FILE -o FILE [options]",
    .summary = "Applies a stencil to every frame of a video.",
    .options = options,
    .notes =
        "A kernel has one field that it reads and one that it writes, or one that it updates, and\n"
        "any number of reductions. Samples are numbers from 0 to 255 in fields of any type; "
        "results\n"
        "are rounded and clamped. Ctrl-C ends the stream in an orderly way: the frames written so\n"
        "far are kept. Sound is not copied.\n"
        "\nexamples:\n"
        "  ambit stream sobel.c -i in.y4m -o out.y4m --boundary reflect/symmetric\n"
        "  ambit stream blur.c -i in.mp4 -o out.mp4 --lanes cuda:0,cuda:1 --planes all\n"
        "  ffmpeg -i in.mkv -f yuv4mpegpipe - | ambit stream star2d1 -i - -o - | ffplay -\n"
        "  ambit stream blur.c -i photo.png -o blurred.png --boundary clamp\n"
        "  ambit stream relax.c -i in%03d.png -o out%03d.png --until 'delta<1e-4'\n",
    .run = run,
};
