/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/machine.h"

#include "base/number.h"
#include "plan/fitted.h"

#include <stdio.h>
#include <string.h>

typedef ambit__machine machine;

#define KIB *1024
#define MIB *1024 * 1024

/* ---- recorded machines ---- */

/* H200: as it measures itself, but for the speeds of its caches. */
const machine ambit__machine_h200 = {.name = "an NVIDIA H200",
                                     .is_gpu = true,
                                     .cores = 132,
                                     .l1 = 256 KIB,
                                     .l2 = 60 MIB,
                                     .registers = 64 KIB,
                                     .shared = 228 KIB,
                                     .copy = AMBIT__H200_COPY,
                                     .alone = 60,
                                     .plain = AMBIT__H200_COPY,
                                     .plain1 = 60,
                                     .copy3 = 5500,
                                     .kept = 45 MIB,
                                     .copy2 = 5500,
                                     .copy1 = 30000,
                                     .fma32 = AMBIT__H200_FMA32,
                                     .fma64 = 16600,
                                     .divide = 1920,
                                     .special = 3200,
                                     .chain = AMBIT__H200_CHAIN,
                                     .launch = AMBIT__H200_LAUNCH};

/* Of the others the copies of cores were measured; the rest is by their data sheets, and by
 * `plain_of`. */
static const struct {
  const char *name;
  machine machine;
} recorded[] = {
    {"neoverse2",
     {"2 Neoverse cores", .cores = 2,     .vector_bytes = 32, .l1 = 64 KIB, .l2 = 1 MIB,
      .l3 = 32 MIB,       .copy = 40,     .alone = 24,        .plain = 40,  .plain1 = 24,
      .copy3 = 60,        .kept = 24 MIB, .copy2 = 90,        .copy1 = 160, .fma32 = 96,
      .fma64 = 48,        .divide = 10,   .special = 4.8,     .chain = 1.5, .launch = 1500}},
    {"xeon16",
     {"16 Xeon cores",
      .has_nontemporal = true,
      .cores = 16,
      .vector_bytes = 64,
      .l1 = 48 KIB,
      .l2 = 2 MIB,
      .l3 = 105 MIB,
      .copy = 140,
      .alone = 22,
      .plain = 93,
      .plain1 = 15,
      .copy3 = 704,
      .kept = AMBIT__FIT_STAYS * 105 MIB,
      .copy2 = 1056,
      .copy1 = 2112,
      .fma32 = 1360,
      .fma64 = 680,
      .divide = 85,
      .special = 68,
      .chain = 1.33,
      .launch = 2400}},
    {"xeon64",
     {"64 Xeon cores", .has_nontemporal = true, .cores = 64,     .vector_bytes = 64, .l1 = 48 KIB,
      .l2 = 2 MIB,     .l3 = 320 MIB,           .copy = 430,     .alone = 18,        .plain = 287,
      .plain1 = 12,    .copy3 = 2200,           .kept = 240 MIB, .copy2 = 4200,      .copy1 = 8400,
      .fma32 = 4900,   .fma64 = 2450,           .divide = 300,   .special = 245,     .chain = 1.5,
      .launch = 9600}},
    {"laptop",
     {"a laptop's GPU",    .is_gpu = true,    .cores = 24,    .l1 = 128 KIB,  .l2 = 32 MIB,
      .registers = 64 KIB, .shared = 100 KIB, .copy = 230,    .alone = 12,    .plain = 230,
      .plain1 = 12,        .copy3 = 1300,     .kept = 24 MIB, .copy2 = 1300,  .copy1 = 5000,
      .fma32 = 7000,       .fma64 = 110,      .divide = 700,  .special = 850, .chain = 1.7,
      .launch = 4000}},
};

const machine *ambit__machine_recorded(const char *name)
{
  if (!strcmp(name, "h200")) return &ambit__machine_h200;
  for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
    if (!strcmp(name, recorded[i].name)) return &recorded[i].machine;
  return NULL;
}

/* ---- speeds that are not known ---- */

typedef struct speed {
  const char *name, *unit, *meaning;
  double least, most;
  size_t at; /* offset in the struct */
} speed;

static const speed speeds[] = {
#define X(name, unit, least, most, meaning)                                                        \
  {#name, unit, meaning, least, most, offsetof(machine, name)},
    AMBIT__SPEED_MAP(X)
#undef X
};
enum {
#define X(name, unit, least, most, meaning) SPEED_##name,
  AMBIT__SPEED_MAP(X)
#undef X
      SPEEDS
};

static double *speed_of(machine *m, int i)
{
  return (double *)(void *)((char *)m + speeds[i].at);
}

static bool is_plausible(int i, double x)
{
  return x >= speeds[i].least && x <= speeds[i].most;
}

/* An H200 with fewer or more multiprocessors: most estimates compare memory with arithmetic. */
static machine gpu_like(const machine *m)
{
  const double share = m->cores / (double)ambit__machine_h200.cores;
  machine like = ambit__machine_h200;

  if (m->l2) like.kept = AMBIT__FIT_STAYS * (double)m->l2;
  like.copy *= share, like.plain *= share;
  like.copy3 *= share, like.copy2 *= share, like.copy1 *= share;
  like.fma32 *= share, like.fma64 *= share, like.divide *= share, like.special *= share;
  return like;
}

/* An ordinary store loads its line first, so three lines move for two. A core of a Sapphire Rapids
 * copies 14 bytes per ns so, and 22 with non-temporal stores. */
static double plain_of(const machine *m, double copy)
{
  return m->has_nontemporal ? copy * 2 / 3 : copy;
}

/* Such cores as waves were fitted to (fitted.h), with vectors of this width. Other cores have more
 * pipes if their vectors are narrow. Exponentials are 20 multiply-adds of generated code
 * (codegen/prelude/math.h). */
static machine cores_like(const machine *m)
{
  const double n = m->cores, wide = m->vector_bytes > 32 ? (double)m->vector_bytes / 64 : 0.5;
  const double fma32 = m->fma32 > 0 ? m->fma32 : 85 * wide * n;
  const double copy = m->copy > 0 ? m->copy : 22 * n < 140 ? 22 * n : 140;
  const double alone = m->alone > 0 ? m->alone : 22;

  return (machine){.copy = copy,
                   .alone = alone,
                   .plain = plain_of(m, copy),
                   .plain1 = plain_of(m, alone),
                   .copy3 = 44 * n,
                   .kept = AMBIT__FIT_STAYS * (double)(m->l3 > m->l2 ? m->l3 : m->l2),
                   .copy2 = 66 * n,
                   .copy1 = 132 * n,
                   .fma32 = fma32,
                   .fma64 = fma32 / 2,
                   .divide = fma32 / 16,
                   .special = fma32 / 20,
                   .chain = 1.33,
                   .launch = n > AMBIT__FIT_FEW ? 150 * n : 1500};
}

int ambit__machine_complete(machine *m)
{
  machine like;
  int n = 0;

  if (m->cores < 1) m->cores = 1;
  for (int i = 0; i < SPEEDS; i++)
    if (!is_plausible(i, *speed_of(m, i))) *speed_of(m, i) = 0;
  like = m->is_gpu ? gpu_like(m) : cores_like(m);
  if (!m->registers) m->registers = like.registers;
  if (!m->shared) m->shared = like.shared;
  if (m->is_gpu && !m->l2) m->l2 = like.l2;
  for (int i = 0; i < SPEEDS; i++)
    if (*speed_of(m, i) == 0) {
      *speed_of(m, i) = *speed_of(&like, i);
      n++;
    }
  if (m->alone > m->copy) m->copy = m->alone; /* a core is a part of all */
  return n;
}

void ambit__machine_forget_speeds(machine *m)
{
  for (int i = 0; i < SPEEDS; i++)
    *speed_of(m, i) = 0;
}

void ambit__machine_take_speeds(machine *m, const machine *from)
{
  machine copy = *from;

  for (int i = 0; i < SPEEDS; i++)
    *speed_of(m, i) = *speed_of(&copy, i);
  m->measured = from->measured;
}

/* ---- text ---- */

static const struct {
  const char *name;
  size_t at;
} facts[] = {{"vector_bytes", offsetof(machine, vector_bytes)},
             {"l1", offsetof(machine, l1)},
             {"l2", offsetof(machine, l2)},
             {"l3", offsetof(machine, l3)},
             {"registers", offsetof(machine, registers)},
             {"shared", offsetof(machine, shared)}};
enum { FACTS = sizeof facts / sizeof *facts };

static size_t *fact_of(machine *m, int i)
{
  return (size_t *)(void *)((char *)m + facts[i].at);
}

void ambit__machine_print(const machine *m, ambit__text *t)
{
  machine copy = *m;

  ambit__print(t, "machine %s\ngpu %d\nnontemporal %d\nmeasured %d\ncores %d\n", m->name, m->is_gpu,
               m->has_nontemporal, m->measured, m->cores);
  for (int i = 0; i < FACTS; i++)
    if (*fact_of(&copy, i)) ambit__print(t, "%s %zu\n", facts[i].name, *fact_of(&copy, i));
  for (int i = 0; i < SPEEDS; i++) {
    char number[AMBIT__NUMBER_CHARS];

    ambit__number_print_float(number, (float)*speed_of(&copy, i));
    ambit__print(t, "%-8s %-12s %-4s  %s\n", speeds[i].name, number, speeds[i].unit,
                 speeds[i].meaning);
  }
}

/* Sets what a word names; returns false if it is no such word, or the number is out of range. */
static bool take(machine *m, const char *word, size_t length, double x)
{
#define IS(name) (strlen(name) == length && !strncmp(word, name, length))
  for (int i = 0; i < FACTS; i++)
    if (IS(facts[i].name)) return x >= 0 && x <= 1e15 && (*fact_of(m, i) = (size_t)x, true);
  for (int i = 0; i < SPEEDS; i++)
    if (IS(speeds[i].name)) return is_plausible(i, x) && (*speed_of(m, i) = x, true);
  if (IS("cores")) return x >= 1 && x <= 1e6 && (m->cores = (int)x, true);
  if (IS("gpu")) return m->is_gpu = x > 0, true;
  if (IS("nontemporal")) return m->has_nontemporal = x > 0, true;
  if (IS("measured")) return m->measured = x > 0, true;
#undef IS
  return false;
}

ambit_status ambit__machine_read(ambit__errors *errors, const char *where, const char *text,
                                 machine *m)
{
  for (int line = 1; *text; line++) {
    const char *word = text + strspn(text, " \t\r");
    const size_t n = strcspn(word, " \t\r\n"), rest = strcspn(word, "\n");
    const bool is_name = n == 7 && !strncmp(word, "machine", n);
    const char *name = word + n + strspn(word + n, " \t");
    double x;

    text = word + rest + (word[rest] == '\n');
    if (!n || *word == '#') continue;
    if (is_name) snprintf(m->name, sizeof m->name, "%.*s", (int)strcspn(name, "\r\n"), name);
    AMBIT_CHECK(is_name || (ambit__number_scan(word + n, &x) && take(m, word, n, x)), errors,
                AMBIT_EINVAL,
                "%s, line %d: '%.*s' does not describe a machine; a line is the name of a number "
                "and a value in its range, such as 'cores 16' or 'copy 140' (`ambit devices` "
                "prints all of them)",
                where, line, (int)rest, word);
  }
  return AMBIT_OK;
}

/* ---- derived numbers ---- */

/* The rate of one of so many cores, from those of all and of one alone. */
static double rate_of_one(double all, double alone, double cores)
{
  const double share = all / (cores > 1 ? cores : 1);

  return alone < share ? alone : share;
}

double ambit__machine_copy(const machine *m, double cores)
{
  return rate_of_one(m->copy, m->alone, cores);
}

bool ambit__machine_stores_past(const machine *m, double cores)
{
  return m->has_nontemporal &&
         ambit__machine_copy(m, cores) > AMBIT__FIT_PAST * rate_of_one(m->plain, m->plain1, cores);
}

double ambit__machine_issue(const machine *m)
{
  return 32 * m->cores / m->fma32;
}
