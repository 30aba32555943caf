/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - one table: the option of the C call, the AMBIT_NAME of the environment and the
 * --ambit-name of the command line are the same row, so they cannot drift apart. */
#include "base/log.h"
#include "base/memory.h"
#include "base/spell.h"
#include "base/text.h"
#include "runtime/objects/objects.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>

extern char **environ;

typedef enum row_kind { TEXT, FLAG, COUNT } row_kind;

typedef struct row {
  const char *name;
  row_kind kind;
  size_t at;           /* offset in ambit__settings */
  const char *initial; /* default, as text */
  int least, most;     /* COUNT */
} row;

#define AT(field) offsetof(ambit__settings, field)
/* docs/options.md tells users about each; a test compares the two. */
static const row rows[] = {
    {"cache", TEXT, AT(cache), "", 0, 0},
    {"cachesize", COUNT, AT(cachesize), "512", 0, 1048576},
    {"cc", TEXT, AT(cc), "", 0, 0},
    {"check", FLAG, AT(check), "0", 0, 0},
    {"depth", COUNT, AT(depth), "1", 1, 1000},
    {"devices", TEXT, AT(devices), "cpu", 0, 0},
    {"dump", TEXT, AT(dump), "", 0, 0},
    {"exchange", FLAG, AT(exchange), "1", 0, 0},
    {"gpuaware", FLAG, AT(gpuaware), "1", 0, 0},
    {"hugepages", FLAG, AT(hugepages), "1", 0, 0},
    {"progress", FLAG, AT(progress), "0", 0, 0},
    {"mpi", TEXT, AT(mpi), "auto", 0, 0},
    {"nan", FLAG, AT(nan), "0", 0, 0},
    {"network", TEXT, AT(network), "", 0, 0},
    {"overlap", TEXT, AT(overlap), "two-way", 0, 0},
    {"partition", TEXT, AT(partition), "auto", 0, 0},
    {"patience", COUNT, AT(patience), "60", 1, 86400},
    {"report", FLAG, AT(report), "0", 0, 0},
    {"strict", FLAG, AT(strict), "0", 0, 0},
    {"threads", COUNT, AT(threads), "0", 0, 4096},
    {"trace", TEXT, AT(trace), "", 0, 0},
    {"verbose", COUNT, AT(verbose), "0", -1, 2},
    {"weights", TEXT, AT(weights), "", 0, 0},
};
enum { NROWS = sizeof rows / sizeof *rows };

static const row *find(const char *name, size_t length)
{
  for (int i = 0; i < NROWS; i++)
    if (strlen(rows[i].name) == length && !strncasecmp(rows[i].name, name, length)) return &rows[i];
  return NULL;
}

/* The row whose name is nearest to one that is no option's; NULL: none is near. */
static const char *nearest(const char *name, size_t length)
{
  char typed[64];
  ambit__guess guess;

  snprintf(typed, sizeof typed, "%.*s", (int)(length < sizeof typed ? length : sizeof typed), name);
  guess = ambit__guess_start(typed);
  for (int i = 0; i < NROWS; i++)
    ambit__guess_offer(&guess, rows[i].name);
  return guess.best;
}

static ambit_status unknown(ambit *a, const char *given, const char *name, size_t length)
{
  const char *close = nearest(name, length);
  ambit__text t = {0};

  for (int i = 0; i < NROWS; i++)
    ambit__print(&t, "%s%s", i ? ", " : "", rows[i].name);
  ambit__raise(&a->errors, AMBIT_EOPTION, "there is no option '%s'%s%s%s; the options are %s",
               given, close ? " (did you mean '" : "", close ? close : "", close ? "'?)" : "",
               t.chars ? t.chars : "");
  ambit__text_free(&t);
  return AMBIT_EOPTION;
}

static ambit_status parse_flag(ambit *a, const row *r, const char *value, bool *out)
{
  static const char *const yes[] = {"1", "yes", "true", "on", ""}, *const no[] = {"0", "no",
                                                                                  "false", "off"};

  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
    if (!strcasecmp(value, yes[i])) return *out = true, AMBIT_OK;
  for (size_t i = 0; i < sizeof no / sizeof *no; i++)
    if (!strcasecmp(value, no[i])) return *out = false, AMBIT_OK;
  return ambit__raise(&a->errors, AMBIT_EOPTION, "option %s is '%s'; it must be 0 or 1", r->name,
                      value);
}

static ambit_status parse_count(ambit *a, const row *r, const char *value, int *out)
{
  char *end;
  long n = strtol(value, &end, 10);

  AMBIT_CHECK(end != value && !*end && n >= r->least && n <= r->most, &a->errors, AMBIT_EOPTION,
              "option %s is '%s'; it must be a whole number from %d to %d", r->name, value,
              r->least, r->most);
  *out = (int)n;
  return AMBIT_OK;
}

static ambit_status set(ambit *a, const row *r, const char *value)
{
  char *field = (char *)&a->settings + r->at;
  size_t i = (size_t)(r - rows);
  char *copy;

  if (r->kind == FLAG) AMBIT_TRY(parse_flag(a, r, value, (bool *)field));
  if (r->kind == COUNT) AMBIT_TRY(parse_count(a, r, value, (int *)(void *)field));
  copy = ambit__strdup(&a->errors, value);
  if (!copy) return AMBIT_ENOMEM;
  free(a->options[i]);
  a->options[i] = copy;
  if (r->kind == TEXT) *(const char **)(void *)field = copy;
  return AMBIT_OK;
}

/* AMBIT_NAME=value. A name that is no option is reported, but harms nothing. Options name programs to start and folders to load
 * from: a program that has more rights than its user takes none from the environment. */
static ambit_status from_environment(ambit *a)
{
  if (getauxval(AT_SECURE)) return AMBIT_OK;
  for (char **e = environ; *e; e++) {
    const char *name = *e + strlen("AMBIT_"), *equals = strchr(*e, '=');
    size_t length;
    const row *r;

    if (!equals || strncmp(*e, "AMBIT_", strlen("AMBIT_")) || name > equals) continue;
    length = (size_t)(equals - name);
    r = find(name, length);
    if (r) {
      AMBIT_TRY(set(a, r, equals + 1));
    } else {
      const char *close = nearest(name, length);

      ambit__log(&a->settings, 0, "the environment variable AMBIT_%.*s is no option of Ambit%s%s%s",
                 (int)length, name, close ? "; did you mean '" : "", close ? close : "",
                 close ? "' in capitals?" : "");
    }
  }
  return AMBIT_OK;
}

/* Takes --ambit-name=value and --ambit-name out of the command line, up to "--". */
static ambit_status from_command_line(ambit *a, int *argc, char **argv)
{
  int kept = 1;

  for (int i = 1; i < *argc; i++) {
    const char *name = argv[i] + strlen("--ambit-");
    size_t length;
    const row *r;

    if (!strcmp(argv[i], "--")) {
      while (i < *argc)
        argv[kept++] = argv[i++];
      break;
    }
    if (strncmp(argv[i], "--ambit-", strlen("--ambit-"))) {
      argv[kept++] = argv[i];
      continue;
    }
    length = strcspn(name, "=");
    r = find(name, length);
    if (!r) return unknown(a, argv[i], name, length);
    AMBIT_CHECK(name[length] || r->kind == FLAG, &a->errors, AMBIT_EOPTION,
                "%s needs a value: --ambit-%s=...", argv[i], r->name);
    AMBIT_TRY(set(a, r, name[length] ? name + length + 1 : "1"));
  }
  *argc = kept;
  argv[kept] = NULL;
  return AMBIT_OK;
}

ambit_status ambit__options_open(ambit *a, int *argc, char ***argv)
{
  a->options = ambit__new(&a->errors, NROWS, sizeof *a->options);
  if (!a->options) return AMBIT_ENOMEM;
  for (int i = 0; i < NROWS; i++)
    AMBIT_TRY(set(a, &rows[i], rows[i].initial));
  AMBIT_TRY(from_environment(a));
  return argc && argv && *argc > 0 ? from_command_line(a, argc, *argv) : AMBIT_OK;
}

void ambit__options_close(ambit *a)
{
  for (int i = 0; a->options && i < NROWS; i++)
    free(a->options[i]);
  free(a->options);
}

ambit_status ambit_option_set(ambit *a, const char *name, const char *value)
{
  const row *r;

  if (ambit__failed(a)) return a ? a->errors.status : AMBIT_EINVAL;
  AMBIT_CHECK(name && value, &a->errors, AMBIT_EINVAL, "ambit_option_set: name or value is NULL");
  r = find(name, strlen(name));
  if (!r) return unknown(a, name, name, strlen(name));
  AMBIT_CHECK(!a->placement.first || (r->at != AT(devices) && r->at != AT(threads) &&
                                      r->at != AT(cc) && r->at != AT(cache)),
              &a->errors, AMBIT_EOPTION,
              "option %s must be set before the first grid or scalar is created", r->name);
  return set(a, r, value);
}

const char *ambit_option_get(const ambit *a, const char *name)
{
  const row *r = name ? find(name, strlen(name)) : NULL;

  return a && a->options && r ? a->options[r - rows] : NULL;
}

unsigned ambit__options_checks(const ambit *a)
{
  return (a->settings.check ? AMBIT__CHECK_ACCESS : 0U) | (a->settings.nan ? AMBIT__CHECK_NAN : 0U);
}
