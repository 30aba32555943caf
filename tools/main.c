/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the command `ambit`: subcommands and help.
 *
 * A subcommand is a file with one tool_command. Results go to stdout, everything else to stderr.
 * Exit codes: 0 success, 1 the work failed, 2 the command line is wrong, 128 + N stopped by signal
 * N. With several processes (mpirun -n 4 ambit run ...) process 0 prints, and all exit with the
 * same code.
 */
#include "args.h"
#include "port_command.h"

#include "base/spell.h"
#include "runtime/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *tool_notes;

static const tool_command *const commands[] = {
    &tool_run,
#ifdef AMBIT_STREAMS
    &tool_stream,
#endif
    &tool_explain, &tool_gen,   &tool_bench, &tool_port,
    &tool_devices, &tool_cache, &tool_tune,  &tool_completion,
};
enum { COUNT = sizeof commands / sizeof *commands };

static const char about[] = "Iterative stencil computations on CPUs and GPUs.";
static const char notes[] =
    "options:\n"
    "  -h, --help     this text; after a command, its own\n"
    "      --version  the version of the tool and of its library\n"
    "      --ambit-*  options of the library: devices, threads, strict, cache, cc, verbose, ...\n"
    "\nexamples:\n"
    "  ambit run star2d1 --size 512x512 --steps 100 --output out.png\n"
    "  ambit run heat.c --set k=0.2 --boundary periodic --output heat.npy\n"
    "  ambit stream sobel.c -i in.mp4 -o out.mp4 --boundary reflect/symmetric\n"
    "  ambit explain box3d1 --size 256^3\n"
    "  ambit bench 'star3d1 512^3 float t20'\n";

const tool_command *tool_command_at(int i)
{
  return i < COUNT ? commands[i] : NULL;
}

static const tool_command *find(const char *name)
{
  for (int i = 0; i < COUNT; i++)
    if (!strcmp(commands[i]->name, name)) return commands[i];
  return NULL;
}

static int overview(void)
{
  printf("usage: ambit COMMAND [words and options]\n\n%s Commands:\n\n", about);
  for (int i = 0; i < COUNT; i++)
    printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
  printf("  %-10s %s\n", "help", "Shows this, or the help of a command: ambit help run");
  printf("\n%s", notes);
  return TOOL_OK;
}

static int unknown(const char *name)
{
  ambit__guess guess = ambit__guess_start(name + strspn(name, "-"));

  for (int i = 0; i < COUNT; i++)
    ambit__guess_offer(&guess, commands[i]->name);
  fprintf(tool_notes, "ambit: unknown %s '%s'%s%s%s\n", *name == '-' ? "option" : "command", name,
          guess.best ? "; did you mean '" : "", guess.best ? guess.best : "",
          guess.best ? "'?" : "");
  fprintf(tool_notes, "`ambit --help` lists them\n");
  return TOOL_USAGE;
}

/* help [--man] [COMMAND] */
static int help(int argc, char **argv)
{
  const bool is_man = argc > 2 && !strcmp(argv[2], "--man");
  const char *name = argc > 2 + is_man ? argv[2 + is_man] : NULL;
  const tool_command *command = name ? find(name) : NULL;

  if (!name) return is_man ? tool_manual_overview(about, notes) : overview();
  if (!command) return unknown(name);
  return is_man ? tool_manual(command) : tool_help(command);
}

static int dispatch(ambit *a, int argc, char **argv)
{
  const char *word = argc > 1 ? argv[1] : "--help";
  const tool_command *command = find(word);
  tool_args args = {.argc = argc, .at = 2, .argv = argv};

  if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
    return help(argc, argv);
  if (!strcmp(word, "--version")) {
    printf("ambit %s\n", ambit_version());
    return TOOL_OK;
  }
  if (!command) return unknown(word);
  args.command = command->name;
  args.options = command->options;
  return command->run(a, &args);
}

/* Process 0 prints; the output of the others is discarded. */
static bool choose_voice(const ambit *a)
{
  tool_notes = ambit_process(a) ? stdout : stderr;
  return !ambit_process(a) || freopen("/dev/null", "w", stdout);
}

/* The highest exit code of all processes. A process that failed earlier joins the others here. */
static int agree(ambit *a, int code)
{
  double worst = code;

  if (!a->net) return code; /* it could not be opened, for the same reason on all processes */
  ambit__meet(a, "is done");
  if (!ambit__net_max(a->net, &worst, 1)) code = (int)worst;
  return ambit_error(a) && !code ? TOOL_FAILED : code;
}

int main(int argc, char **argv)
{
  const int early = tool_port_early(argc, argv);
  ambit *a;
  int code;

  if (early >= 0) return early;
  tool_watch_signals(); /* before there are threads that would take them */
  a = ambit_open(&argc, &argv);
  if (!a || !choose_voice(a)) {
    fprintf(stderr, "ambit: error: out of memory, or /dev/null cannot be opened\n");
    return TOOL_FAILED;
  }
  code = agree(a, ambit_error(a) ? TOOL_USAGE : dispatch(a, argc, argv));
  if (ambit_close(a) && !code) code = TOOL_FAILED;
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(tool_notes, "ambit: error: cannot write to standard output\n");
    return TOOL_FAILED;
  }
  return code;
}
