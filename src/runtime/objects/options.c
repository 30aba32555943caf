/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - one table: the option of the C call, the AMBIT_NAME of the environment and the
 * --ambit-name of the command line are the same row, so they cannot drift apart. A value is checked
 * when it is set; only folders, files and commands are looked up when they are used.
 */
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/spell.h"
#include "base/text.h"
#include "device/measure.h"
#include "grid/partition.h"
#include "runtime/objects/objects.h"
#include "runtime/observe/viewing.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>

extern char **environ;

typedef enum row_kind { TEXT, FLAG, COUNT, WORD, CHECKED } row_kind;

/* How long an option can be set. */
typedef enum row_time {
  ANY_TIME,
  BEFORE_TRACE,   /* until the trace begins, with the first run */
  BEFORE_RUN,     /* until the first run, with checkpoints */
  BEFORE_DEVICES, /* until the devices are opened, with the first grid or scalar */
  AT_OPEN         /* only while the context is opened */
} row_time;

/* Whether it changes what the processes of a run do together: messages, reductions, grids. They
 * compare such options in every collective call (ambit__meet). */
typedef enum row_scope {
  OWN,      /* each process may have its own value */
  SHARED,   /* all must have the same, */
  SHARED_ON /* or a value, whichever, or none */
} row_scope;

typedef struct row {
  const char *name;
  row_kind kind;
  row_time time;
  row_scope scope;
  size_t at;           /* offset in ambit__settings */
  const char *initial; /* default, as text */
  int least, most;     /* COUNT: the range; CHECKED: with most = 1 it needs no value, as FLAG */
  const char *const *words; /* WORD: the values, then NULL; COUNT: words that mean 0 */
  /* CHECKED: raises AMBIT_EOPTION, or AMBIT_ENODEVICE, unless the value has the right form */
  ambit_status (*check)(ambit *a, const char *value);
} row;

static const char *const auto_words[] = {"auto", NULL};
static const char *const mpi_words[] = {"auto", "off", "on", "openmpi", "mpich", NULL};
static const char *const auto_on_off[] = {"auto", "on", "off", NULL};
static const char *const storage_words[] = {"auto", "runs", "block", "dense", "list", NULL};
static const char *const overlap_words[] = {"none", "standard", "extended", "two-way", NULL};

static ambit_status check_partition(ambit *a, const char *value)
{
  ambit__cuts cuts;

  AMBIT_CHECK(ambit__cuts_parse(value, &cuts), &a->errors, AMBIT_EOPTION,
              "option partition is '%s'; it must be auto, a number of bands such as 4, or numbers "
              "of blocks such as 2x2",
              value);
  return AMBIT_OK;
}

static ambit_status check_explain(ambit *a, const char *value)
{
  const char *dot = strrchr(value, '.');

  AMBIT_CHECK(!*value || !strcmp(value, "text") || !strcmp(value, "1") ||
                  (dot && dot > value && (!strcmp(dot, ".svg") || !strcmp(dot, ".dot"))),
              &a->errors, AMBIT_EOPTION,
              "option explain is '%s'; it must be text, or a file for a graph: its name ends in "
              ".svg, or in .dot for Graphviz",
              value);
  return AMBIT_OK;
}

bool ambit__interval_parse(const char *text, int64_t *iterations, double *seconds)
{
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
  char *end;
  double x = strtod(text, &end);

  *iterations = 0;
  *seconds = 0;
  if (end == text || !(x > 0 && x <= 1e15)) return false;
  if (!*end) *iterations = (int64_t)x;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (!strcmp(end, units[i].name)) *seconds = x * units[i].seconds;
  return *iterations ? (double)*iterations == x : *seconds > 0;
}

static ambit_status check_machine(ambit *a, const char *value)
{
  ambit__machine m = {.cores = 1};

  return *value ? ambit__machine_load(&a->errors, value, &m) : AMBIT_OK;
}

static ambit_status check_interval(ambit *a, const char *value)
{
  int64_t iterations;
  double seconds;

  AMBIT_CHECK(ambit__interval_parse(value, &iterations, &seconds), &a->errors, AMBIT_EOPTION,
              "option checkpoint-every is '%s'; it must be a number of iterations such as 1000, or "
              "a time such as 30s, 10min or 2h",
              value);
  return AMBIT_OK;
}

static ambit_status check_view(ambit *a, const char *value)
{
  ambit__viewing v;

  return ambit__viewing_parse(&a->errors, value, &v);
}

#define AT(field) offsetof(ambit__settings, field)
/* docs/options.md documents each option; a test compares the two. */
static const row rows[] = {
    {"cache", TEXT, BEFORE_DEVICES, OWN, AT(cache), "", 0, 0, NULL, NULL},
    {"cachesize", COUNT, BEFORE_DEVICES, OWN, AT(cachesize), "512", 0, 1048576, NULL, NULL},
    {"cc", TEXT, BEFORE_DEVICES, OWN, AT(cc), "", 0, 0, NULL, NULL},
#ifdef AMBIT_ACCESS_CHECKS /* in test builds only; see CONTRIBUTING.md */
    {"check", FLAG, ANY_TIME, SHARED, AT(check), "0", 0, 0, NULL, NULL},
#endif
    {"checkpoint", TEXT, BEFORE_RUN, SHARED, AT(checkpoint), "", 0, 0, NULL, NULL},
    {"checkpoint-every", CHECKED, ANY_TIME, SHARED, AT(checkpoint_every), "10min", 0, 0, NULL,
     check_interval},
    {"depth", COUNT, ANY_TIME, SHARED, AT(depth), "auto", 0, 1000, auto_words, NULL},
    {"devices", CHECKED, BEFORE_DEVICES, OWN, AT(devices), "auto", 0, 0, NULL,
     ambit__devices_check},
    {"dump", TEXT, ANY_TIME, OWN, AT(dump), "", 0, 0, NULL, NULL},
    {"explain", CHECKED, ANY_TIME, OWN, AT(explain), "", 0, 1, NULL, check_explain},
    {"gpuaware", FLAG, BEFORE_DEVICES, OWN, AT(gpuaware), "1", 0, 0, NULL, NULL},
    {"hugepages", FLAG, ANY_TIME, OWN, AT(hugepages), "1", 0, 0, NULL, NULL},
    {"join", FLAG, ANY_TIME, SHARED, AT(join), "1", 0, 0, NULL, NULL},
    {"lanes", CHECKED, ANY_TIME, OWN, AT(lanes), "", 0, 0, NULL, ambit__lanes_check},
    {"lean", WORD, ANY_TIME, SHARED, AT(lean), "auto", 0, 0, auto_on_off, NULL},
    {"machine", CHECKED, BEFORE_DEVICES, OWN, AT(machine), "", 0, 0, NULL, check_machine},
    {"mpi", WORD, AT_OPEN, OWN, AT(mpi), "auto", 0, 0, mpi_words, NULL},
    {"nan", FLAG, ANY_TIME, SHARED, AT(nan), "0", 0, 0, NULL, NULL},
    {"overlap", WORD, ANY_TIME, SHARED, AT(overlap), "two-way", 0, 0, overlap_words, NULL},
    {"partition", CHECKED, ANY_TIME, SHARED, AT(partition), "auto", 0, 0, NULL, check_partition},
    {"patience", COUNT, BEFORE_DEVICES, OWN, AT(patience), "60", 1, 86400, NULL, NULL},
    {"plan", TEXT, ANY_TIME, SHARED, AT(plan), "", 0, 0, NULL, NULL},
    {"progress", FLAG, ANY_TIME, OWN, AT(progress), "0", 0, 0, NULL, NULL},
    {"report", FLAG, ANY_TIME, SHARED, AT(report), "0", 0, 0, NULL, NULL},
    {"resume", TEXT, BEFORE_RUN, SHARED, AT(resume), "auto", 0, 0, NULL, NULL},
    {"sleep", WORD, ANY_TIME, SHARED, AT(sleep), "auto", 0, 0, auto_on_off, NULL},
    {"startup", COUNT, AT_OPEN, OWN, AT(startup), "30", 0, 86400, NULL, NULL},
    {"storage", WORD, ANY_TIME, SHARED, AT(storage), "auto", 0, 0, storage_words, NULL},
    {"strict", FLAG, ANY_TIME, SHARED, AT(strict), "0", 0, 0, NULL, NULL},
    {"threads", COUNT, BEFORE_DEVICES, OWN, AT(threads), "0", 0, 4096, NULL, NULL},
    {"trace", TEXT, BEFORE_TRACE, SHARED_ON, AT(trace), "", 0, 0, NULL, NULL},
    {"trial", FLAG, ANY_TIME, SHARED, AT(trial), "1", 0, 0, NULL, NULL},
    {"tune", FLAG, ANY_TIME, SHARED, AT(tune), "0", 0, 0, NULL, NULL},
    {"verbose", COUNT, ANY_TIME, OWN, AT(verbose), "0", -1, 2, NULL, NULL},
    {"view", CHECKED, ANY_TIME, SHARED, AT(view), "", 0, 1, NULL, check_view},
    {"weights", CHECKED, ANY_TIME, SHARED, AT(weights), "", 0, 0, NULL, ambit__weights_check},
};
enum { NROWS = sizeof rows / sizeof *rows };

/* Names of the environment have _ where others have -. */
static bool is_named(const row *r, const char *name, size_t length)
{
  size_t i = 0;

  while (i < length &&
         (tolower((unsigned char)name[i]) == r->name[i] || (name[i] == '_' && r->name[i] == '-')))
    i++;
  return i == length && !r->name[i];
}

static const row *find(const char *name, size_t length)
{
  for (int i = 0; i < NROWS; i++)
    if (is_named(&rows[i], name, length)) return &rows[i];
  return NULL;
}

/* The option whose name is closest to a misspelt one; NULL: none is close. */
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

/* Raises "option strict is 'ture'; it must be 0 or 1 (did you mean 'true'?)". `words` are
 * candidates for the suggestion; `accepted` describes the valid values. */
static ambit_status refuse(ambit *a, const row *r, const char *value, const char *const *words,
                           const char *accepted)
{
  ambit__guess guess = ambit__guess_start(value);

  for (; *words; words++)
    ambit__guess_offer(&guess, *words);
  return ambit__raise(&a->errors, AMBIT_EOPTION, "option %s is '%s'; it must be %s%s%s%s", r->name,
                      value, accepted, guess.best ? " (did you mean '" : "",
                      guess.best ? guess.best : "", guess.best ? "'?)" : "");
}

static ambit_status parse_flag(ambit *a, const row *r, const char *value, bool *out)
{
  static const char *const words[] = {"no", "yes", "false", "true", "off", "on", NULL};

  *out = true;
  if (!*value || !strcmp(value, "1")) return AMBIT_OK;
  for (int i = 0; words[i]; i++)
    if (!strcasecmp(value, words[i])) return *out = i % 2, AMBIT_OK;
  *out = false;
  return strcmp(value, "0") ? refuse(a, r, value, words, "0 or 1") : AMBIT_OK;
}

static ambit_status check_word(ambit *a, const row *r, const char *value)
{
  ambit__text accepted = {0};
  ambit_status s;

  for (int i = 0; r->words[i]; i++) {
    if (!strcmp(value, r->words[i])) return ambit__text_free(&accepted), AMBIT_OK;
    ambit__print(&accepted, "%s%s", !i ? "" : r->words[i + 1] ? ", " : " or ", r->words[i]);
  }
  s = refuse(a, r, value, r->words, accepted.chars ? accepted.chars : "another word");
  ambit__text_free(&accepted);
  return s;
}

static ambit_status parse_count(ambit *a, const row *r, const char *value, int *out)
{
  char *end;
  long n = strtol(value, &end, 10);

  *out = 0;
  for (int i = 0; r->words && r->words[i]; i++)
    if (!strcmp(value, r->words[i])) return AMBIT_OK;
  AMBIT_CHECK(end != value && !*end && n >= r->least && n <= r->most, &a->errors, AMBIT_EOPTION,
              "option %s is '%s'; it must be %s%sa whole number from %d to %d", r->name, value,
              r->words ? r->words[0] : "", r->words ? " or " : "", r->least, r->most);
  *out = (int)n;
  return AMBIT_OK;
}

static ambit_status set(ambit *a, const row *r, const char *value)
{
  char *field = (char *)&a->settings + r->at;
  size_t i = (size_t)(r - rows);
  char *copy;
  bool flag = false;
  int count = 0;

  if (r->kind == FLAG) AMBIT_TRY(parse_flag(a, r, value, &flag));
  if (r->kind == COUNT) AMBIT_TRY(parse_count(a, r, value, &count));
  if (r->kind == WORD) AMBIT_TRY(check_word(a, r, value));
  if (r->kind == CHECKED) AMBIT_TRY(r->check(a, value));
  copy = ambit__strdup(&a->errors, value);
  if (!copy) return AMBIT_ENOMEM;
  free(a->options[i]);
  a->options[i] = copy;
  if (r->kind == FLAG)
    *(bool *)field = flag;
  else if (r->kind == COUNT)
    *(int *)(void *)field = count;
  else
    *(const char **)(void *)field = copy;
  return AMBIT_OK;
}

/* Reads AMBIT_NAME=value. An unknown name is logged, not an error. Options name programs to start
 * and folders to load from, so a program with raised rights ignores the environment. */
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

      ambit__log(&a->settings, 0,
                 "the environment variable AMBIT_%.*s is not an option of Ambit%s%s%s", (int)length,
                 name, close ? "; did you mean '" : "", close ? close : "",
                 close ? "' in capitals?" : "");
    }
  }
  return AMBIT_OK;
}

/* Removes --ambit-name=value and --ambit-name from the command line, up to "--". */
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
    AMBIT_CHECK(name[length] || r->kind == FLAG || (r->kind == CHECKED && r->most), &a->errors,
                AMBIT_EOPTION, "%s needs a value: --ambit-%s=...", argv[i], r->name);
    AMBIT_TRY(set(a, r, name[length] ? name + length + 1 : "1"));
  }
  *argc = kept;
  argv[kept] = NULL;
  return AMBIT_OK;
}

ambit_status ambit__options_open(ambit *a, int *argc, char ***argv)
{
  AMBIT_NEW(&a->errors, a->options, NROWS);
  for (int i = 0; i < NROWS; i++)
    AMBIT_TRY(set(a, &rows[i], rows[i].initial));
  AMBIT_TRY(from_environment(a));
  return argc && argv && *argc > 0 ? from_command_line(a, argc, *argv) : AMBIT_OK;
}

ambit_status ambit__options_copy(ambit *a, const ambit *from)
{
  static const char *const own[] = {"checkpoint", "devices",  "explain", "lanes",  "mpi",
                                    "partition",  "progress", "report",  "resume", "threads",
                                    "trace",      "view",     "weights", NULL};

  AMBIT_NEW(&a->errors, a->options, NROWS);
  for (int i = 0; i < NROWS; i++)
    AMBIT_TRY(
        set(a, &rows[i], ambit__is_one_of(rows[i].name, own) ? rows[i].initial : from->options[i]));
  return AMBIT_OK;
}

ambit_status ambit__options_adopt(ambit *a, const ambit *from)
{
  for (int i = 0; i < NROWS && from->options; i++)
    if (rows[i].time != AT_OPEN) AMBIT_TRY(set(a, &rows[i], from->options[i]));
  return a->errors.status;
}

void ambit__options_close(ambit *a)
{
  for (int i = 0; a->options && i < NROWS; i++)
    free(a->options[i]);
  free(a->options);
}

static const char *in_capitals(const char *name, char *to, size_t size)
{
  size_t n = 0;

  for (; name[n] && n + 1 < size; n++)
    to[n] = name[n] == '-' ? '_' : (char)toupper((unsigned char)name[n]);
  to[n] = '\0';
  return to;
}

/* Raises AMBIT_EOPTION when it is too late for the option to take effect. */
static ambit_status check_time(ambit *a, const row *r, const char *value)
{
  AMBIT_CHECK(r->time != AT_OPEN, &a->errors, AMBIT_EOPTION,
              "option %s cannot be set to '%s': it takes effect only when a context is opened; set "
              "it in the environment (AMBIT_%s) or on the command line (--ambit-%s=...)",
              r->name, value, in_capitals(r->name, (char[32]){0}, 32), r->name);
  AMBIT_CHECK(r->time != BEFORE_DEVICES || !a->placement.first, &a->errors, AMBIT_EOPTION,
              "option %s cannot be set to '%s' any more: the devices are open; it must be set "
              "before the first grid or scalar is created",
              r->name, value);
  AMBIT_CHECK(r->time != BEFORE_RUN || !a->journal.records, &a->errors, AMBIT_EOPTION,
              "option %s cannot be set to '%s' any more: it must be set before the first run",
              r->name, value);
  AMBIT_CHECK(r->time != BEFORE_TRACE || !a->trace, &a->errors, AMBIT_EOPTION,
              "option %s cannot be set to '%s' any more: the trace is being recorded; it must be "
              "set before the first run",
              r->name, value);
  return AMBIT_OK;
}

ambit_status ambit_option_set(ambit *a, const char *name, const char *value)
{
  const row *r;

  if (ambit__failed(a)) return a ? a->errors.status : AMBIT_EINVAL;
  AMBIT_CHECK(name && value, &a->errors, AMBIT_EINVAL, "ambit_option_set: name or value is NULL");
  r = find(name, strlen(name));
  if (!r) return unknown(a, name, name, strlen(name));
  AMBIT_TRY(check_time(a, r, value));
  return set(a, r, value);
}

const char *ambit_option_get(const ambit *a, const char *name)
{
  const row *r = name ? find(name, strlen(name)) : NULL;

  return a && a->options && r ? a->options[r - rows] : NULL;
}

/* ---- options of all processes ---- */

/* The value of an option in one spelling: the start of it for messages, and all of it. */
typedef struct value {
  char text[160];
  ambit__hash all;
} value;

static value value_of(const ambit *a, const row *r)
{
  const char *field = (const char *)&a->settings + r->at, *text = a->options[r - rows];
  char number[16];
  value v = {.text = ""};

  if (r->kind == FLAG || r->kind == COUNT) {
    const int n = r->kind == FLAG ? *(const bool *)field : *(const int *)(const void *)field;

    snprintf(number, sizeof number, "%d", n);
    text = r->words && !n ? r->words[0] : number; /* auto */
  } else if (r->scope == SHARED_ON) {
    text = *text ? "on" : "off";
  }
  snprintf(v.text, sizeof v.text, "%s", text);
  ambit__hash_init(&v.all);
  ambit__hash_text(&v.all, text);
  return v;
}

const char *ambit__options_name(int i)
{
  return i < NROWS ? rows[i].name : NULL;
}

double ambit__options_number(const ambit *a)
{
  ambit__hash h;

  ambit__hash_init(&h);
  for (int i = 0; a->options && i < NROWS; i++)
    if (rows[i].scope != OWN) {
      const value v = value_of(a, &rows[i]);

      ambit__hash_bytes(&h, &v.all, sizeof v.all);
    }
  return (double)(h.w[0] >> 12) + 1;
}

ambit_status ambit__options_differ(ambit *a, int who)
{
  for (int i = 0; i < NROWS; i++) {
    value first, other;

    if (rows[i].scope == OWN) continue;
    first = other = value_of(a, &rows[i]);
    AMBIT_TRY(ambit__net_broadcast(a->net, 0, &first, sizeof first));
    AMBIT_TRY(ambit__net_broadcast(a->net, who, &other, sizeof other));
    AMBIT_CHECK(!memcmp(&first.all, &other.all, sizeof first.all), &a->errors, AMBIT_EOPTION,
                "option %s is '%s' on process %d, but '%s' on process 0; it must be the same on "
                "all processes",
                rows[i].name, other.text, who, first.text);
  }
  return AMBIT_OK;
}

unsigned ambit__options_checks(const ambit *a)
{
  unsigned checks = a->settings.nan ? AMBIT__CHECK_NAN : 0U;

#ifdef AMBIT_ACCESS_CHECKS
  if (a->settings.check) checks |= AMBIT__CHECK_ACCESS;
#endif
  return checks;
}
