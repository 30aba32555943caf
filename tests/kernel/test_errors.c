/* SPDX-License-Identifier: BSD-3-Clause */
/* test_errors.c - every kernel of tests/error is rejected with the words in its first lines.
 *
 *
 * expect: words that the message must contain, without the file name: 3:8: error: unknown name
 *
 * There are no more errors than expectations: none that is only the consequence of another.
 */
#include "../support/test.h"
#include "kernel/kernel.h"

#include <dirent.h>
#include <stdlib.h>

enum { LONGEST = 64 * 1024, FEWEST = 40 };

static const char expect[] = "// expect: ";

/* Reads a whole file; "" on failure, which has no expectation and is reported. */
static void read_text(const char *path, char *text)
{
  FILE *file = fopen(path, "rb");

  text[0] = '\0';
  if (!file) return;
  text[fread(text, 1, LONGEST - 1, file)] = '\0';
  fclose(file);
}

static void check_expectations(const char *name, const char *text, const char *story)
{
  int lines = 0, errors = 0;

  for (const char *at = story; (at = strstr(at, ": error: ")); at++)
    errors++;
  for (; !strncmp(text, expect, sizeof expect - 1); text++, lines++) {
    char words[1000];
    size_t n;

    text += sizeof expect - 1;
    n = strcspn(text, "\n");
    snprintf(words, sizeof words, "%.*s", (int)n, text);
    CHECK_MSG(strstr(story, words), "%s: wanted: %s\ngot: %s", name, words, story);
    text += n;
    if (!*text) break;
  }
  CHECK_MSG(lines > 0, "%s does not say what to expect", name);
  CHECK_MSG(errors <= lines, "%s: %d errors, %d expected:\n%s", name, errors, lines, story);
}

static void check_file(const char *name, char *text)
{
  ambit__errors errors = {0};
  ambit__rule *rule;
  char path[1000];

  snprintf(path, sizeof path, "%s/%s", AMBIT_ERROR_DIR, name);
  read_text(path, text);
  CHECK_MSG(ambit__rule_parse(&errors, name, text, &rule) == AMBIT_EKERNEL, "%s is not refused",
            name);
  check_expectations(name, text, errors.text ? errors.text : "");
  ambit__errors_clear(&errors);
  ambit__rule_free(rule);
}

static void every_wrong_kernel_is_refused_with_the_right_words(void)
{
  DIR *dir = opendir(AMBIT_ERROR_DIR);
  char *text = malloc(LONGEST);
  const struct dirent *entry;
  int files = 0;

  CHECK_MSG(dir && text, "cannot read %s", AMBIT_ERROR_DIR);
  while (dir && text && (entry = readdir(dir))) {
    const char *dot = strrchr(entry->d_name, '.');

    if (!dot || strcmp(dot, ".c")) continue;
    check_file(entry->d_name, text);
    files++;
  }
  CHECK_MSG(files >= FEWEST, "only %d files in %s", files, AMBIT_ERROR_DIR);
  if (dir) closedir(dir);
  free(text);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"every_wrong_kernel_is_refused_with_the_right_words",
       every_wrong_kernel_is_refused_with_the_right_words},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
