/* main.c - the command `ambit`: which subcommand is meant, and help.
 *
 * A subcommand is a file with one tool_command. Results go to standard output, everything else to
 * standard error. Exit codes: 0 all is well, 1 the work failed, 2 the command line is wrong. Of several processes
 * (mpirun -n 4 ambit run ...) one prints, and all exit with the same code.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "args.h"
#include "port_command.h"

#include "base/spell.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *tool_notes;

static const tool_command *const commands[] = {&tool_run,   &tool_explain, &tool_gen,
                                               &tool_bench, &tool_port,    &tool_devices};
enum { COUNT = sizeof commands / sizeof *commands };

static const tool_command *find(const char *name)
{
  for (int i = 0; i < COUNT; i++)
    if (!strcmp(commands[i]->name, name)) return commands[i];
  return NULL;
}

static int overview(void)
{
  printf("usage: ambit COMMAND [words and options]\n\n"
         "Iterative stencils on every core. Commands:\n\n");
  for (int i = 0; i < COUNT; i++)
    printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
  printf("  %-10s %s\n", "help", "Shows this, or the help of a command: ambit help run");
  printf(
      "\noptions:\n"
      "  -h, --help     this text; after a command, its own\n"
      "      --version  the version of the tool and of its library\n"
      "      --ambit-*  options of the library: devices, threads, strict, cache, cc, verbose, ...\n"
      "\nexamples:\n"
      "  ambit run star2d1 --size 512x512 --steps 100 --output out.png\n"
      "  ambit run heat.c --set k=0.2 --boundary periodic --output heat.npy\n"
      "  ambit explain box3d1 --size 256^3\n"
      "  ambit bench 'star3d1 512^3 float t20'\n");
  return TOOL_OK;
}

static int unknown(const char *name)
{
  ambit__guess guess = ambit__guess_start(name + strspn(name, "-"));

  for (int i = 0; i < COUNT; i++)
    ambit__guess_offer(&guess, commands[i]->name);
  fprintf(tool_notes, "ambit: there is no %s '%s'%s%s%s\n", *name == '-' ? "option" : "command",
          name, guess.best ? "; did you mean '" : "", guess.best ? guess.best : "",
          guess.best ? "'?" : "");
  fprintf(tool_notes, "`ambit --help` lists them\n");
  return TOOL_USAGE;
}

static int help(int argc, char **argv)
{
  const tool_command *command;

  if (argc < 3) return overview();
  command = find(argv[2]);
  return command ? tool_help(command) : unknown(argv[2]);
}

static int dispatch(ambit *a, int argc, char **argv)
{
  const char *word = argc > 1 ? argv[1] : "--help";
  const tool_command *command = find(word);
  tool_args args = {.argc = argc, .at = 2, .argv = argv};

  if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
    return help(argc, argv);
  if (!strcmp(word, "--version")) {
    printf("ambit %d.%d.%d\n", AMBIT_VERSION_MAJOR, AMBIT_VERSION_MINOR, AMBIT_VERSION_PATCH);
    return TOOL_OK;
  }
  if (!command) return unknown(word);
  args.command = command->name;
  args.options = command->options;
  return command->run(a, &args);
}

/* Process 0 prints; what the others would say goes nowhere. */
static bool choose_voice(const ambit *a)
{
  tool_notes = ambit_process(a) ? stdout : stderr;
  return !ambit_process(a) || freopen("/dev/null", "w", stdout);
}

/* The worst exit code of all processes. Whoever failed on its own way meets the others here. */
static int agree(ambit *a, int code)
{
  int *all;

  if (!a->net) return code; /* it was not opened, for the same reason on all */
  ambit__meet(a, "it is done");
  all = malloc((size_t)a->net->size * sizeof *all);
  if (!all) ambit__net_abort(a->net, "there is no memory left to end well");
  if (all && !ambit__net_gather(a->net, &code, sizeof code, all))
    for (int i = 0; i < a->net->size; i++)
      if (all[i] > code) code = all[i];
  free(all);
  return ambit_error(a) && !code ? TOOL_FAILED : code;
}

int main(int argc, char **argv)
{
  const int early = tool_port_early(argc, argv);
  ambit *a;
  int code;

  if (early >= 0) return early;
  a = ambit_open(&argc, &argv);
  if (!a || !choose_voice(a)) {
    fprintf(stderr, "ambit: error: not enough memory, or no /dev/null\n");
    return TOOL_FAILED;
  }
  code = agree(a, ambit_error(a) ? TOOL_USAGE : dispatch(a, argc, argv));
  if (ambit_close(a) && !code) code = TOOL_FAILED;
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(tool_notes, "ambit: error: standard output cannot be written\n");
    return TOOL_FAILED;
  }
  return code;
}
