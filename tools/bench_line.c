/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_line.c - parses a problem line: the form of a word determines its meaning.
 */
#include "bench.h"
#include "runtime/run/run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A letter and a number: t50. */
static bool is_count(const char *word, char letter)
{
  return word[0] == letter && isdigit((unsigned char)word[1]);
}

static bool is_device(const char *word)
{
  for (int i = 0; ambit__backend_at(i); i++)
    if (!strcmp(ambit__backend_at(i)->name, word)) return true;
  return false;
}

/* The number behind the letter of a word: t50. Messages name the letter. */
static int read_count(const tool_args *args, const char *word, int64_t most, int64_t *count)
{
  tool_args named = *args;

  snprintf(named.option, sizeof named.option, "%c", word[0]);
  return tool_read_count(&named, word + 1, 1, most, count);
}

static int take_word(ambit *a, const tool_args *args, const char *word, bench_line *l)
{
  tool_problem *p = &l->problem;

  if (!p->what) return tool_problem_word(args, word, p);
  if (isdigit((unsigned char)word[0])) return tool_problem_option(a, args, OPT_SIZE, word, p);
  if (tool_is_type(word)) return tool_problem_option(a, args, OPT_TYPE, word, p);
  if (is_count(word, 't')) return read_count(args, word, INT64_MAX, &l->iterations);
  if (is_count(word, 'r')) return read_count(args, word, BENCH_REPS, &l->reps);
  if (tool_is_boundary(word)) return tool_problem_option(a, args, OPT_BOUNDARY, word, p);
  if (is_device(word)) {
    l->device = word;
    return TOOL_OK;
  }
  if (strchr(word, '=')) return tool_problem_option(a, args, OPT_SET, word, p);
  return tool_wrong(
      args,
      "the word '%s' in '%s' is not a size (64x64), a type (float), iterations (t50), repetitions "
      "(r5), a device (cpu), a boundary (periodic) or a parameter (k=0.2)",
      word, l->text);
}

int bench_line_read(ambit *a, const tool_args *args, const char *text, bench_line *line)
{
  int code = TOOL_OK;
  char *rest;

  *line = (bench_line){.text = text, .iterations = 20, .reps = 5};
  line->words = malloc(strlen(text) + 1);
  if (!line->words) return TOOL_FAILED;
  strcpy(line->words, text);
  for (char *w = strtok_r(line->words, " \t", &rest); w && !code; w = strtok_r(NULL, " \t", &rest))
    code = take_word(a, args, w, line);
  return code;
}

void bench_line_free(bench_line *line)
{
  free(line->words);
}
