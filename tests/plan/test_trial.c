/* SPDX-License-Identifier: BSD-3-Clause */
/* The trial that all searches for the fastest plan share: turns, candidates that are given up, and
 * when it ends. */
#include "plan/trial.h"
#include "support/test.h"

enum { NEVER = 1000 };

/* Holds a trial of candidates that take these times. Returns the turns, of each in turns[]. */
static int hold(ambit__trial *t, const ambit__trial_rules *r, const double *seconds, int n,
                int *turns)
{
  int all = 0;

  ambit__trial_begin(t, n);
  for (int i = 0; i < n; i++)
    turns[i] = 0;
  for (; !ambit__trial_ended(t, r) && all < NEVER; all++) {
    turns[t->at]++;
    ambit__trial_note(t, r, seconds[t->at], seconds[t->at]);
  }
  return all;
}

static void all_have_their_turns_and_the_fastest_wins(void)
{
  const ambit__trial_rules r = {.rounds = 5, .clearly = 0.97};
  const double seconds[] = {3, 2, 1, 4};
  ambit__trial t;
  int turns[4];

  CHECK_EQ(20, hold(&t, &r, seconds, 4, turns));
  for (int i = 0; i < 4; i++)
    CHECK_EQ(5, turns[i]);
  CHECK_EQ(2, ambit__trial_fastest(&t, &r));
}

static void the_first_stays_unless_another_is_clearly_faster(void)
{
  const ambit__trial_rules r = {.rounds = 1, .clearly = 0.97};
  ambit__trial t;
  int turns[3];

  hold(&t, &r, (double[]){1, 0.98, 0.99}, 3, turns);
  CHECK_EQ(0, ambit__trial_fastest(&t, &r));
  hold(&t, &r, (double[]){1, 0.98, 0.96}, 3, turns);
  CHECK_EQ(2, ambit__trial_fastest(&t, &r));
}

/* A bad moment does not count: the least time of a candidate does. */
static void the_best_turn_of_a_candidate_counts(void)
{
  const ambit__trial_rules r = {.rounds = 2, .clearly = 1};
  ambit__trial t;

  ambit__trial_begin(&t, 2);
  ambit__trial_note(&t, &r, 9, 9);
  ambit__trial_note(&t, &r, 2, 2);
  ambit__trial_note(&t, &r, 1, 1);
  ambit__trial_note(&t, &r, 2, 2);
  CHECK(ambit__trial_ended(&t, &r));
  CHECK_EQ(0, ambit__trial_fastest(&t, &r));
}

static void slow_candidates_are_given_up_after_two_turns(void)
{
  const ambit__trial_rules r = {.rounds = 5, .slow = 1.5, .clearly = 0.97};
  ambit__trial t;
  int turns[3];

  CHECK_EQ(5 + 2 + 5, hold(&t, &r, (double[]){1, 2, 1.2}, 3, turns));
  CHECK_EQ(2, turns[1]);
  hold(&t, &r, (double[]){1, 1.8, 0.9}, 3, turns);
  CHECK_EQ(2, turns[1]);
  CHECK_EQ(5, turns[2]);
  CHECK_EQ(2, ambit__trial_fastest(&t, &r));
}

static void what_is_not_possible_has_no_turn(void)
{
  const ambit__trial_rules r = {.rounds = 3, .clearly = 0.97};
  ambit__trial t;

  ambit__trial_begin(&t, 3);
  t.out[1] = t.out[2] = true;
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(0, t.at);
    CHECK(!ambit__trial_ended(&t, &r));
    ambit__trial_note(&t, &r, 1, 1);
  }
  CHECK(ambit__trial_ended(&t, &r));
  CHECK_EQ(0, ambit__trial_fastest(&t, &r));
}

static void short_turns_are_repeated_unless_the_result_is_plain(void)
{
  const ambit__trial_rules r = {
      .rounds = 2, .most = 32, .least = 0.03, .decided = 6, .surely = 0.8, .clearly = 1};
  ambit__trial t;
  int turns[2];

  CHECK_EQ(64, hold(&t, &r, (double[]){1e-6, 1.1e-6}, 2, turns)); /* at most 32 rounds */
  CHECK_EQ(4, hold(&t, &r, (double[]){1e-6, 7e-6}, 2, turns));    /* decided */
  CHECK_EQ(4, hold(&t, &r, (double[]){0.1, 0.11}, 2, turns));     /* long enough */
  CHECK_EQ(2, hold(&t, &r, (double[]){0.1, 0.2}, 2, turns));      /* long enough, and sure */
  CHECK_EQ(4,
           hold(&t, &r, (double[]){0.2, 0.1}, 2, turns)); /* the first may have had a cold start */
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {T(all_have_their_turns_and_the_fastest_wins),
                                    T(the_first_stays_unless_another_is_clearly_faster),
                                    T(the_best_turn_of_a_candidate_counts),
                                    T(slow_candidates_are_given_up_after_two_turns),
                                    T(what_is_not_possible_has_no_turn),
                                    T(short_turns_are_repeated_unless_the_result_is_plain),
                                    {0}};
#undef T

  return test_main(argc, argv, tests);
}
