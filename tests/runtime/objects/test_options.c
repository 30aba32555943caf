/* SPDX-License-Identifier: BSD-3-Clause */
/* Options: the call, the environment and the command line share one table. */
#define _XOPEN_SOURCE 700
#include "runtime/runtime_test.h"
#include "support/capture.h"
#include "support/folder.h"

#include <ctype.h>
#include <unistd.h>

static ambit *open_with(int *argc, char **argv)
{
  ambit *a;
  char **list = argv;

  capture_begin(); /* the default handler is still installed */
  a = ambit_open(argc, argv ? &list : NULL);
  capture_end();
  ambit_on_error(a, NULL, NULL);
  return a;
}

static void an_option_is_set_and_read_back_by_name(void)
{
  ambit *a = open_on("ref");

  CHECK_STR("ref", ambit_option_get(a, "devices"));
  CHECK_STR("0", ambit_option_get(a, "strict"));
  CHECK_EQ(AMBIT_OK, ambit_option_set(a, "strict", "1"));
  CHECK_STR("1", ambit_option_get(a, "strict"));
  CHECK_EQ(AMBIT_OK, ambit_option_set(a, "STRICT", "off"));
  CHECK_STR("off", ambit_option_get(a, "strict"));
  CHECK(!ambit_option_get(a, "no such option"));
  CHECK(!ambit_option_get(a, NULL));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void an_unknown_option_is_refused_with_the_nearest_name(void)
{
  ambit *a = open_on("ref");

  ambit_option_set(a, "thraeds", "2");
  CHECK_FAILED(a, AMBIT_EOPTION, "did you mean 'threads'?");
  ambit_option_set(a, "colour of the sky", "blue");
#ifdef AMBIT_ACCESS_CHECKS
  CHECK_FAILED(a, AMBIT_EOPTION,
               "the options are cache, cachesize, cc, check, checkpoint, checkpoint-every, "
               "depth, devices");
#else
  CHECK_FAILED(a, AMBIT_EOPTION,
               "the options are cache, cachesize, cc, checkpoint, checkpoint-every, depth, "
               "devices");
#endif
  ambit_option_set(a, "colour of the sky", "blue");
  CHECK_FAILED(a, AMBIT_EOPTION,
               ", lean, machine, mpi, nan, overlap, partition, patience, plan, progress, ");
  ambit_close(a);
}

static void a_bad_value_is_refused_and_the_old_one_stays(void)
{
  ambit *a = open_on("ref");

  ambit_option_set(a, "strict", "maybe");
  CHECK_FAILED(a, AMBIT_EOPTION, "option strict is 'maybe'; it must be 0 or 1");
  CHECK_STR("0", ambit_option_get(a, "strict"));
  ambit_option_set(a, "threads", "two");
  CHECK_FAILED(a, AMBIT_EOPTION, "option threads is 'two'");
  ambit_option_set(a, "threads", "-1");
  CHECK_FAILED(a, AMBIT_EOPTION, "a whole number from 0 to 4096");
  ambit_option_set(a, "threads", "4097");
  CHECK_FAILED(a, AMBIT_EOPTION, "a whole number from 0 to 4096");
  ambit_option_set(a, "threads", "2x");
  CHECK_FAILED(a, AMBIT_EOPTION, "a whole number from 0 to 4096");
  ambit_option_set(a, "threads", "");
  CHECK_FAILED(a, AMBIT_EOPTION, "a whole number from 0 to 4096");
  CHECK_STR("0", ambit_option_get(a, "threads"));
  ambit_close(a);
}

/* An invalid value and words of the error, by the call, the environment and the command line. */
static const struct {
  const char *name, *value;
  ambit_status status;
  const char *words;
} wrong_values[] = {
    {"overlap", "bogus", AMBIT_EOPTION,
     "option overlap is 'bogus'; it must be none, standard, extended or two-way"},
    {"overlap", "twoway", AMBIT_EOPTION, "(did you mean 'two-way'?)"},
    {"overlap", "", AMBIT_EOPTION, "option overlap is ''; it must be none"},
    {"partition", "zz", AMBIT_EOPTION,
     "option partition is 'zz'; it must be auto, a number of bands such as 4, or numbers of blocks "
     "such as 2x2"},
    {"partition", "2x", AMBIT_EOPTION, "option partition is '2x'"},
    {"partition", "0x2", AMBIT_EOPTION, "option partition is '0x2'"},
    {"weights", "1,two", AMBIT_EOPTION,
     "option weights is '1,two'; it must be numbers of 0 or more, as in 1,0.5,2"},
    {"weights", "1,", AMBIT_EOPTION, "option weights is '1,'"},
    {"weights", "-1", AMBIT_EOPTION, "option weights is '-1'"},
    {"weights", "0,0", AMBIT_EOPTION, "must be above 0 and finite"},
    {"weights", "1e308,1e308", AMBIT_EOPTION, "must be above 0 and finite"},
    {"devices", "gpu9", AMBIT_ENODEVICE, "no device is called 'gpu9'"},
    {"devices", "cdua", AMBIT_ENODEVICE, "(did you mean 'cuda'?); there are: cpu, cuda"},
    {"devices", "cuda:one", AMBIT_ENODEVICE, "devices=cuda:one: 'cuda:one' must end in the number"},
    {"devices", "cpu*0", AMBIT_EOPTION, "devices=cpu*0: 'cpu*0' must ask for 1 to 4096 parts"},
    {"devices", "", AMBIT_EOPTION, "names no device"},
    {"strict", "ture", AMBIT_EOPTION,
     "option strict is 'ture'; it must be 0 or 1 (did you mean 'true'?)"},
    {"verbose", "3", AMBIT_EOPTION,
     "option verbose is '3'; it must be a whole number from -1 to 2"},
};
enum { WRONG_VALUES = sizeof wrong_values / sizeof *wrong_values };

static void every_value_is_checked_when_it_is_set(void)
{
  for (int i = 0; i < WRONG_VALUES; i++) {
    ambit *a = open_on("cpu");
    char before[64];

    snprintf(before, sizeof before, "%s", ambit_option_get(a, wrong_values[i].name));
    CHECK_EQ(wrong_values[i].status,
             ambit_option_set(a, wrong_values[i].name, wrong_values[i].value));
    CHECK_FAILED(a, wrong_values[i].status, wrong_values[i].words);
    CHECK_STR(before, ambit_option_get(a, wrong_values[i].name));
    ambit_close(a);
  }
}

static void values_of_the_right_form_are_taken(void)
{
  static const char *const good[][2] = {
      {"overlap", "none"},    {"overlap", "standard"}, {"overlap", "extended"},
      {"overlap", "two-way"}, {"partition", "auto"},   {"partition", "3"},
      {"partition", "2x1x4"}, {"weights", ""},         {"weights", "1,0.5,2e3,0"},
      {"devices", "all"},     {"devices", "cuda:7*2"}, {"devices", "cpu,opencl:1,cpu*3"},
      {"strict", "Yes"},      {"strict", "0"},         {"verbose", "-1"},
      {"dump", "a folder"},   {"cc", "gcc -O1"},       {"trace", "no/such/folder/yet.json"}};
  ambit *a = open_on("cpu");

  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    CHECK_EQ(AMBIT_OK, ambit_option_set(a, good[i][0], good[i][1]));
    CHECK_STR(good[i][1], ambit_option_get(a, good[i][0]));
  }
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void devices_that_are_not_there_are_refused_by_name(void)
{
  static const struct {
    const char *text;
    ambit_status status;
    const char *words;
  } bad[] = {{"gpu9", AMBIT_ENODEVICE, "gpu9"},
             {"cpu:1", AMBIT_ENODEVICE, "devices=cpu:1"},
             {"ref:x", AMBIT_ENODEVICE, "devices=ref:x"},
             {"cpu,ref", AMBIT_EOPTION, "in one part of one process"},
             {"ref*2", AMBIT_EOPTION, "in one part of one process"},
             {"cpu*0", AMBIT_EOPTION, "must ask for 1 to 4096 parts"},
             {"cpu*x", AMBIT_EOPTION, "must ask for 1 to 4096 parts"},
             {"cpu,", AMBIT_EOPTION, "names no device"}};

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ambit *a = open_on(bad[i].text);

    CHECK(!grid_1d(a, 4));
    CHECK_FAILED(a, bad[i].status, bad[i].words);
    ambit_close(a);
  }
}

static void a_device_can_be_named_with_its_number_or_as_all(void)
{
  static const char *const good[] = {"cpu:0", "ref:0", "all", "cpu*3", "cpu:0*2", "cpu,cpu*2"};

  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    ambit *a = open_on(good[i]);

    CHECK(grid_1d(a, 4));
    CHECK_OK(a);
    ambit_close(a);
  }
}

static void options_of_the_device_come_before_the_first_grid(void)
{
  static const char *const names[] = {"devices", "threads", "cc", "cache", "gpuaware"};
  ambit *a = open_on("ref");

  grid_1d(a, 4);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    ambit_option_set(a, names[i], "1");
    CHECK_FAILED(a, AMBIT_EOPTION, "must be set before the first grid or scalar is created");
  }
  CHECK_EQ(AMBIT_OK, ambit_option_set(a, "strict", "1"));
  ambit_close(a);
}

static void options_of_the_processes_come_with_ambit_open(void)
{
  static const char *const set[][2] = {{"mpi", "nonsense"}, {"mpi", "off"}};
  ambit *a = open_on("ref");

  for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
    char before[64];

    snprintf(before, sizeof before, "%s", ambit_option_get(a, set[i][0]));
    ambit_option_set(a, set[i][0], set[i][1]);
    CHECK_FAILED(a, AMBIT_EOPTION, "takes effect only when a context is opened; set it in the env");
    CHECK_STR(before, ambit_option_get(a, set[i][0]));
  }
  ambit_option_set(a, "mpi", "off");
  CHECK_FAILED(a, AMBIT_EOPTION, "(AMBIT_MPI) or on the command line (--ambit-mpi=...)");
  ambit_close(a);
}

static void a_trace_that_has_begun_keeps_its_file(void)
{
  ambit *a = open_on("ref");
  ambit_grid *g = grid_1d(a, 4);
  ambit_program *p = ambit_program_create(g);

  ambit_apply(p, ambit_kernel_create(a, "void one(float *u) { *u = 1; }"),
              ambit_field_create(g, "u", AMBIT_F32));
  folder_make();
  CHECK_EQ(AMBIT_OK, ambit_option_set(a, "trace", folder_path("first.json")));
  CHECK_EQ(AMBIT_OK, ambit_option_set(a, "trace", folder_path("one.json")));
  CHECK_EQ(AMBIT_OK, ambit_run(p, 1));
  ambit_option_set(a, "trace", folder_path("two.json"));
  CHECK_FAILED(a, AMBIT_EOPTION, "must be set before the first run");
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  CHECK_EQ(1, folder_files());
  CHECK(!access(folder_path("one.json"), F_OK));
  folder_remove();
}

/* ---- the environment ---- */

static void the_environment_sets_options(void)
{
  ambit *a;

  setenv("AMBIT_THREADS", "3", 1);
  setenv("AMBIT_STRICT", "yes", 1);
  a = open_with(NULL, NULL);
  CHECK_STR("3", ambit_option_get(a, "threads"));
  CHECK_STR("yes", ambit_option_get(a, "strict"));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  unsetenv("AMBIT_THREADS");
  unsetenv("AMBIT_STRICT");
}

static void a_bad_value_in_the_environment_fails_the_context(void)
{
  ambit *a;

  setenv("AMBIT_THREADS", "many", 1);
  a = open_with(NULL, NULL);
  unsetenv("AMBIT_THREADS");
  CHECK(a != NULL);
  CHECK(!grid_1d(a, 4));
  CHECK_FAILED(a, AMBIT_EOPTION, "option threads is 'many'");
  ambit_close(a);
}

static void every_value_in_the_environment_is_checked(void)
{
  for (int i = 0; i < WRONG_VALUES; i++) {
    char name[32] = "AMBIT_";
    ambit *a;

    for (size_t j = 0; wrong_values[i].name[j]; j++)
      name[6 + j] = (char)toupper((unsigned char)wrong_values[i].name[j]);
    setenv(name, wrong_values[i].value, 1);
    a = open_with(NULL, NULL);
    unsetenv(name);
    CHECK_FAILED(a, wrong_values[i].status, wrong_values[i].words);
    ambit_close(a);
  }
}

static void a_misspelt_variable_is_reported_and_harms_nothing(void)
{
  ambit *a;
  const char *said;

  setenv("AMBIT_THREDS", "3", 1);
  capture_begin();
  a = ambit_open(NULL, NULL);
  said = capture_end();
  unsetenv("AMBIT_THREDS");
  CHECK_MSG(strstr(said, "AMBIT_THREDS is not an option"), "%s", said);
  CHECK_MSG(strstr(said, "did you mean 'threads'"), "%s", said);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* ---- the command line ---- */

static void the_command_line_sets_options_and_loses_them(void)
{
  char *argv[] = {"program", "one", "--ambit-threads=2", "--ambit-strict", "two", NULL};
  int argc = 5;
  ambit *a = open_with(&argc, argv);

  CHECK_STR("2", ambit_option_get(a, "threads"));
  CHECK_STR("1", ambit_option_get(a, "strict"));
  CHECK_EQ(3, argc);
  CHECK_STR("program", argv[0]);
  CHECK_STR("one", argv[1]);
  CHECK_STR("two", argv[2]);
  CHECK(!argv[3]);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void every_value_on_the_command_line_is_checked(void)
{
  for (int i = 0; i < WRONG_VALUES; i++) {
    char word[64], *argv[] = {"program", word, NULL};
    int argc = 2;
    ambit *a;

    snprintf(word, sizeof word, "--ambit-%s=%s", wrong_values[i].name, wrong_values[i].value);
    a = open_with(&argc, argv);
    CHECK_FAILED(a, wrong_values[i].status, wrong_values[i].words);
    ambit_close(a);
  }
}

static void how_processes_work_together_is_checked_too(void)
{
  static const char *const set[][2] = {
      {"--ambit-mpi=nonsense",
       "option mpi is 'nonsense'; it must be auto, off, on, openmpi or mpich"},
      {"--ambit-mpi=openMPI", "(did you mean 'openmpi'?)"}};

  for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
    char word[64], *argv[] = {"program", word, NULL};
    int argc = 2;
    ambit *a;

    snprintf(word, sizeof word, "%s", set[i][0]);
    a = open_with(&argc, argv);
    CHECK_FAILED(a, AMBIT_EOPTION, set[i][1]);
    ambit_close(a);
  }
}

static void the_command_line_wins_over_the_environment(void)
{
  char *argv[] = {"program", "--ambit-threads=2", NULL};
  int argc = 2;
  ambit *a;

  setenv("AMBIT_THREADS", "3", 1);
  a = open_with(&argc, argv);
  unsetenv("AMBIT_THREADS");
  CHECK_STR("2", ambit_option_get(a, "threads"));
  ambit_close(a);
}

static void what_follows_two_dashes_is_the_users_own(void)
{
  char *argv[] = {"program", "--ambit-strict=1", "--", "--ambit-threads=2", NULL};
  int argc = 4;
  ambit *a = open_with(&argc, argv);

  CHECK_EQ(3, argc);
  CHECK_STR("--", argv[1]);
  CHECK_STR("--ambit-threads=2", argv[2]);
  CHECK(!argv[3]);
  CHECK_STR("0", ambit_option_get(a, "threads"));
  ambit_close(a);
}

static void an_unknown_or_empty_option_on_the_command_line_is_an_error(void)
{
  char *unknown[] = {"program", "--ambit-sttrict=1", NULL};
  char *empty[] = {"program", "--ambit-devices", NULL};
  int argc = 2;
  ambit *a = open_with(&argc, unknown);

  CHECK_FAILED(a, AMBIT_EOPTION, "did you mean 'strict'?");
  ambit_close(a);
  argc = 2;
  a = open_with(&argc, empty);
  CHECK_FAILED(a, AMBIT_EOPTION, "--ambit-devices needs a value");
  ambit_close(a);
}

static void a_command_line_without_a_program_name_stays_empty(void)
{
  char *argv[] = {NULL, "untouched"};
  int argc = 0;
  ambit *a = open_with(&argc, argv);

  CHECK_EQ(0, argc);
  CHECK_STR("untouched", argv[1]);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"an_option_is_set_and_read_back_by_name", an_option_is_set_and_read_back_by_name},
      {"an_unknown_option_is_refused_with_the_nearest_name",
       an_unknown_option_is_refused_with_the_nearest_name},
      {"a_bad_value_is_refused_and_the_old_one_stays",
       a_bad_value_is_refused_and_the_old_one_stays},
      {"every_value_is_checked_when_it_is_set", every_value_is_checked_when_it_is_set},
      {"values_of_the_right_form_are_taken", values_of_the_right_form_are_taken},
      {"devices_that_are_not_there_are_refused_by_name",
       devices_that_are_not_there_are_refused_by_name},
      {"a_device_can_be_named_with_its_number_or_as_all",
       a_device_can_be_named_with_its_number_or_as_all},
      {"options_of_the_device_come_before_the_first_grid",
       options_of_the_device_come_before_the_first_grid},
      {"options_of_the_processes_come_with_ambit_open",
       options_of_the_processes_come_with_ambit_open},
      {"a_trace_that_has_begun_keeps_its_file", a_trace_that_has_begun_keeps_its_file},
      {"the_environment_sets_options", the_environment_sets_options},
      {"a_bad_value_in_the_environment_fails_the_context",
       a_bad_value_in_the_environment_fails_the_context},
      {"every_value_in_the_environment_is_checked", every_value_in_the_environment_is_checked},
      {"a_misspelt_variable_is_reported_and_harms_nothing",
       a_misspelt_variable_is_reported_and_harms_nothing},
      {"the_command_line_sets_options_and_loses_them",
       the_command_line_sets_options_and_loses_them},
      {"every_value_on_the_command_line_is_checked", every_value_on_the_command_line_is_checked},
      {"how_processes_work_together_is_checked_too", how_processes_work_together_is_checked_too},
      {"the_command_line_wins_over_the_environment", the_command_line_wins_over_the_environment},
      {"what_follows_two_dashes_is_the_users_own", what_follows_two_dashes_is_the_users_own},
      {"an_unknown_or_empty_option_on_the_command_line_is_an_error",
       an_unknown_or_empty_option_on_the_command_line_is_an_error},
      {"a_command_line_without_a_program_name_stays_empty",
       a_command_line_without_a_program_name_stays_empty},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
