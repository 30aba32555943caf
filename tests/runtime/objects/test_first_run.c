/* SPDX-License-Identifier: BSD-3-Clause */
/* The first run of a program with an empty cache: its kernels are compiled at the same time, and
 * ten of them take less than two seconds. */
#define _XOPEN_SOURCE 700
#include "device/cpu/machine.h"
#include "runtime/runtime_test.h"

#include <sys/resource.h>
#include <sys/stat.h>

enum { KERNELS = 10 };

/* Stands for the compiler: notes when it begins and ends. The first one waits until a second one
 * has begun, for at most five seconds. */
static const char compiler[] = "#!/bin/sh\n"
                               "case \"$*\" in *-shared*) ;; *) exec cc \"$@\" ;; esac\n"
                               "log=${0%/*}/log\n"
                               "echo begin >> $log\n"
                               "n=0\n"
                               "while [ $(grep -c begin $log) -lt 2 ] && [ $n -lt 100 ]; do\n"
                               "  n=$((n + 1)); sleep 0.05\n"
                               "done\n"
                               "cc \"$@\"; code=$?\n"
                               "echo end >> $log\n"
                               "exit $code\n";

static char folder[] = "/tmp/ambit-first-XXXXXX";
static char program[sizeof folder + 8], log_file[sizeof folder + 8];

static void write_compiler(void)
{
  FILE *f;

  CHECK(mkdtemp(folder) != NULL);
  snprintf(program, sizeof program, "%s/cc", folder);
  snprintf(log_file, sizeof log_file, "%s/log", folder);
  f = fopen(program, "w");
  CHECK(f && fputs(compiler, f) >= 0 && !fclose(f) && !chmod(program, 0700));
}

/* Ten different kernels, one after the other. */
static void run_program(ambit *a)
{
  ambit_grid *g = grid_2d(a, 64, 64);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  ambit_field_boundary(v, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  for (int i = 0; i < KERNELS; i++) {
    char text[200];

    snprintf(text, sizeof text,
             "void k%d(const float *u, float *v) { *v = 0.%d1f * (u[-1][0] + u[0][%d] + *u); }", i,
             i, 1 + i % 3);
    ambit_apply(p, ambit_kernel_create(a, text), i % 2 ? v : u, i % 2 ? u : v);
  }
  ambit_run(p, 1);
}

static double seconds_of_children(void)
{
  struct rusage r;

  getrusage(RUSAGE_CHILDREN, &r);
  return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
         1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static void kernels_are_compiled_at_the_same_time(void)
{
  ambit *a = open_on("cpu");
  char first[16] = "", second[16] = "", line[16], command[sizeof folder + 8];
  int begun = 0;
  FILE *f;

  write_compiler();
  ambit_option_set(a, "cc", program);
  ambit_option_set(a, "cache", folder);
  run_program(a);
  CHECK_OK(a);
  f = fopen(log_file, "r");
  CHECK(f != NULL);
  for (int i = 0; f && fgets(line, sizeof line, f); i++) {
    if (i < 2) snprintf(i ? second : first, sizeof first, "%s", line);
    begun += !strcmp(line, "begin\n");
  }
  if (f) fclose(f);
  CHECK(!strcmp(first, "begin\n") && !strcmp(second, "begin\n"));
  CHECK_EQ(KERNELS, begun);
  CHECK_MSG(seconds_of_children() < 2.0 * 2, "compilers took %g s of two processors",
            seconds_of_children());
  ambit_close(a);
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(!system(command));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"kernels_are_compiled_at_the_same_time", kernels_are_compiled_at_the_same_time}, {0}};

  if (ambit__machine_cores() < 2) {
    printf("# skipped: there is one processor only\n");
    return 77;
  }
  return test_main(argc, argv, tests);
}
