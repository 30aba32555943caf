/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of backends: lookup by name, and the error for a wrong name. */
#include "device/device.h"
#include "support/test.h"

static void every_backend_is_found_by_its_name(void)
{
  int n = 0;

  for (const ambit__backend *b; (b = ambit__backend_at(n)); n++) {
    CHECK(b->summary && b->open && b->execute);
    CHECK(ambit__backend_find(NULL, b->name, strlen(b->name)) == b);
  }
  CHECK(n >= 2);
  CHECK(!ambit__backend_at(-1));
}

static void the_reference_is_the_last_choice(void)
{
  int n = 0;

  while (ambit__backend_at(n + 1))
    n++;
  CHECK_STR("ref", ambit__backend_at(n)->name);
}

static void a_name_is_taken_by_its_length(void)
{
  const ambit__backend *b = ambit__backend_find(NULL, "cpu:0,ref", 3);

  CHECK(b && !strcmp(b->name, "cpu"));
}

static void an_unknown_name_is_answered_with_those_there_are(void)
{
  const char *wrong[] = {"gpu", "cp", "cpus", ""};

  for (int i = 0; i < 4; i++) {
    ambit__errors errors = {.status = AMBIT_OK};

    CHECK(!ambit__backend_find(&errors, wrong[i], strlen(wrong[i])));
    CHECK_EQ(AMBIT_ENODEVICE, errors.status);
    CHECK(errors.text && strstr(errors.text, wrong[i]) &&
          strstr(errors.text, "cpu, cuda, opencl, ref"));
    ambit__errors_clear(&errors);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_backend_is_found_by_its_name", every_backend_is_found_by_its_name},
      {"the_reference_is_the_last_choice", the_reference_is_the_last_choice},
      {"a_name_is_taken_by_its_length", a_name_is_taken_by_its_length},
      {"an_unknown_name_is_answered_with_those_there_are",
       an_unknown_name_is_answered_with_those_there_are},
      {0}};

  return test_main(argc, argv, tests);
}
