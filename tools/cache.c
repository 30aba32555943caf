/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.c - `ambit cache`: shows, trims and empties the cache of compiled kernels. */
#include "device/cache.h"
#include "runtime/run/run.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 1 };
enum { MOST_MIB = 1 << 20 };

static void print_size(const char *what, const ambit__cache_size *size)
{
  printf("%s%" PRId64 " %s, %.1f MiB\n", what, size->entries,
         size->entries == 1 ? "entry" : "entries", (double)size->bytes / (1 << 20));
}

static void show(ambit__cache *cache)
{
  const ambit__cache_size size = ambit__cache_measure(cache);

  printf("folder  %s\n", cache->folder);
  print_size("holds   ", &size);
  if (ambit__cache_limit(cache))
    printf("limit   %" PRId64 " MiB (option cachesize)\n", ambit__cache_limit(cache) >> 20);
  else
    printf("limit   none (option cachesize)\n");
}

static int trim(ambit__cache *cache, int64_t most)
{
  const ambit__cache_size before = ambit__cache_measure(cache);
  const int why = ambit__cache_trim(cache, most);
  ambit__cache_size after, gone;

  after = ambit__cache_measure(cache);
  gone = (ambit__cache_size){before.entries - after.entries, before.bytes - after.bytes};
  print_size("removed ", &gone);
  print_size("left    ", &after);
  if (why)
    fprintf(tool_notes, "ambit cache: some files in %s cannot be removed: %s\n", cache->folder,
            strerror(why));
  return why ? TOOL_FAILED : TOOL_OK;
}

/* Executes the command; the cache is open and has a folder. */
static int act(const tool_args *args, const char *word, int64_t mib, ambit__cache *cache)
{
  if (!strcmp(word, "show")) {
    if (mib >= 0) return tool_wrong(args, "--size is for trim; show removes nothing");
    show(cache);
  } else if (!strcmp(word, "empty")) {
    if (mib >= 0) return tool_wrong(args, "--size is for trim; empty leaves nothing");
    return trim(cache, 0);
  } else if (!strcmp(word, "trim")) {
    if (mib < 0 && !ambit__cache_limit(cache))
      return tool_wrong(args,
                        "there is no limit to trim to (option cachesize); give one: --size 100");
    return trim(cache, mib < 0 ? ambit__cache_limit(cache) : mib << 20);
  } else {
    return tool_wrong(args, "'%s' is not understood; it must be show, trim or empty", word);
  }
  return TOOL_OK;
}

static int work(ambit *a, const tool_args *args, const char *word, int64_t mib)
{
  ambit__cache cache;
  int code = TOOL_FAILED;

  if (ambit__cache_open(&a->errors, &a->settings, &cache)) return TOOL_FAILED;
  if (cache.folder)
    code = act(args, word, mib, &cache);
  else
    fprintf(tool_notes, "ambit cache: compiled kernels are not kept: %s\n",
            strcmp(ambit_option_get(a, "cache"), "none")
                ? "there is no folder that can be used (with --ambit-verbose=1: why)"
                : "option cache is 'none'");
  ambit__cache_close(&cache);
  return code;
}

static int run(ambit *a, tool_args *args)
{
  const char *value, *word = NULL;
  int64_t mib = -1;
  int id;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_cache);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if (id == TOOL_WORD && word) return tool_wrong(args, "'%s' is one word too many", value);
    if (id == TOOL_WORD) word = value;
    if (id == SIZE && tool_read_count(args, value, 0, MOST_MIB, &mib)) return TOOL_USAGE;
  }
  if (ambit_process(a)) return TOOL_OK; /* one is enough */
  return work(a, args, word ? word : "show", mib);
}

static const tool_option options[] = {
    {SIZE, 0, "size", "MIB", "trim to so many MiB (default: the option cachesize)"},
    {0},
};

const tool_command tool_cache = {
    .name = "cache",
    .words = "[show | trim | empty] [--size MIB]",
    .summary = "Shows the cache of compiled kernels, trims it to a size, or empties it.",
    .options = options,
    .notes =
        "Entries unused for longest go first. Running programs keep the code they have loaded.\n"
        "The folder is that of the option cache (--ambit-cache, AMBIT_CACHE).\n"
        "\nexamples:\n"
        "  ambit cache\n"
        "  ambit cache trim --size 100\n"
        "  ambit cache empty\n",
    .run = run,
};
