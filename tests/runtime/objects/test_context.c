/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: the first error stays, later calls return at once, and NULL is accepted everywhere. */
#define _XOPEN_SOURCE 700 /* fork */
#include "ambit_compiled.h"
#include "runtime/runtime_test.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static const char copy_rule[] = "void copy(const float *u, float *v) { *v = *u; }";

/* ---- errors ---- */

static void a_new_context_has_no_error(void)
{
  ambit *a = ambit_open(NULL, NULL);

  CHECK_EQ(AMBIT_OK, ambit_error(a));
  CHECK_STR("", ambit_error_text(a));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void the_first_error_stays_and_close_returns_it(void)
{
  ambit *a = open_on("ref");

  CHECK(!ambit_grid_create(a, 0, NULL));
  CHECK_EQ(AMBIT_EINVAL, ambit_error(a));
  CHECK(strstr(ambit_error_text(a), "0 dimensions"));
  CHECK(!ambit_kernel_create(a, "this is no kernel"));
  CHECK_EQ(AMBIT_EINVAL, ambit_error(a));
  CHECK(strstr(ambit_error_text(a), "0 dimensions"));
  CHECK_EQ(AMBIT_EINVAL, ambit_close(a));
}

static int called; /* calls of a user's function */

static double count_call(const int64_t *index, int component, void *user)
{
  (void)index, (void)component, (void)user;
  called++;
  return 1;
}

static void after_an_error_every_call_returns_at_once(void)
{
  ambit *a = open_on("ref");
  ambit_grid *g = grid_1d(a, 4);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32),
              *h = ambit_field_create(g, "h", AMBIT_F32);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F64);
  ambit_kernel *k = ambit_kernel_create(a, copy_rule);
  ambit_program *p = ambit_program_create(g);
  float values[4] = {9, 9, 9, 9};

  ambit_scalar_set(s, 3);
  CHECK(!ambit_kernel_create(a, "?"));
  called = 0;
  CHECK_EQ(AMBIT_EKERNEL, ambit_field_fill(f, count_call, NULL));
  CHECK_EQ(0, called);
  CHECK_EQ(AMBIT_EKERNEL, ambit_field_write(f, NULL, NULL, values));
  CHECK_EQ(AMBIT_EKERNEL, ambit_field_read(f, NULL, NULL, values));
  CHECK_EQ(9, values[0]);
  CHECK_EQ(AMBIT_EKERNEL, ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CLAMP, 0));
  CHECK_EQ(AMBIT_EKERNEL, ambit_field_save(f, "never.npy"));
  CHECK_EQ(AMBIT_EKERNEL, ambit_field_load(f, "never.npy"));
  CHECK_EQ(AMBIT_EKERNEL, ambit_scalar_set(s, 5));
  CHECK(isnan(ambit_scalar_get(s)));
  CHECK_EQ(AMBIT_EKERNEL, ambit_apply(p, k, f, h));
  CHECK_EQ(AMBIT_EKERNEL, ambit_swap(p, f, h));
  CHECK_EQ(AMBIT_EKERNEL, ambit_run(p, 1));
  CHECK_EQ(AMBIT_EKERNEL, ambit_run_until(p, s, AMBIT_BELOW, 1, 1));
  CHECK_EQ(AMBIT_EKERNEL, ambit_program_check_every(p, 2));
  CHECK_EQ(AMBIT_EKERNEL, ambit_on_iteration(p, 1, NULL, NULL));
  CHECK(!ambit_program_stats(p, 0));
  CHECK_EQ(AMBIT_EKERNEL, ambit_program_report(p));
  CHECK_EQ(AMBIT_EKERNEL, ambit_option_set(a, "strict", "1"));
  CHECK(!grid_1d(a, 4) && !ambit_field_create(g, "x", AMBIT_F32) && !ambit_program_create(g));
  CHECK(!ambit_kernel_create(a, copy_rule) && !ambit_scalar_create(a, "x", AMBIT_F32));
  CHECK(!ambit_kernel_create_named(a, "2d4", AMBIT_F32));
  ambit_error_clear(a);
  CHECK_EQ(3, ambit_scalar_get(s));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_cleared_context_works_again_with_what_it_had(void)
{
  ambit *a = open_on("ref");
  ambit_field *f = ambit_field_create(grid_1d(a, 3), "f", AMBIT_F32);
  float values[3] = {1, 2, 3}, back[3];

  ambit_field_write(f, NULL, NULL, values);
  CHECK(!ambit_grid_create(a, 99, NULL));
  ambit_error_clear(a);
  CHECK_STR("", ambit_error_text(a));
  CHECK_EQ(AMBIT_OK, ambit_field_read(f, NULL, NULL, back));
  CHECK(!memcmp(values, back, sizeof back));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

typedef struct told {
  int times;
  ambit_status status;
  char story[200];
} told;

static void keep_story(ambit_status status, const char *story, void *user)
{
  told *t = user;

  t->times++;
  t->status = status;
  snprintf(t->story, sizeof t->story, "%s", story);
}

static void a_handler_is_told_once_per_error_at_once(void)
{
  ambit *a = ambit_open(NULL, NULL);
  told t = {0};

  ambit_on_error(a, keep_story, &t);
  CHECK(!ambit_grid_create(a, 7, NULL));
  CHECK_EQ(1, t.times);
  CHECK_EQ(AMBIT_EINVAL, t.status);
  CHECK_STR(ambit_error_text(a), t.story);
  CHECK(!ambit_grid_create(a, 8, NULL));
  CHECK_EQ(1, t.times);
  ambit_error_clear(a);
  CHECK(!ambit_grid_create(a, 8, NULL));
  CHECK_EQ(2, t.times);
  ambit_close(a);
}

static void contexts_are_independent(void)
{
  ambit *a = open_on("ref"), *b = open_on("cpu");
  ambit_grid *g = grid_1d(b, 4);
  ambit_program *p = ambit_program_create(g);

  CHECK(!ambit_grid_create(a, 0, NULL));
  CHECK_OK(b);
  ambit_error_clear(a);
  ambit_apply(p, ambit_kernel_create(a, copy_rule), ambit_field_create(g, "u", AMBIT_F32),
              ambit_field_create(g, "v", AMBIT_F32));
  CHECK_FAILED(b, AMBIT_EINVAL, "kernel copy belongs to another context");
  ambit_close(a);
  CHECK_EQ(AMBIT_OK, ambit_close(b));
}

/* ---- NULL ---- */

static void queries_accept_null(void)
{
  CHECK_EQ(AMBIT_EINVAL, ambit_error(NULL));
  CHECK(strlen(ambit_error_text(NULL)) > 0);
  ambit_error_clear(NULL);
  ambit_on_error(NULL, NULL, NULL);
  CHECK(!ambit_option_get(NULL, "strict"));
  CHECK_EQ(0, ambit_grid_ndims(NULL));
  CHECK_EQ(0, ambit_grid_extent(NULL, 0));
  CHECK_STR("", ambit_field_name(NULL));
  ambit_field_type(NULL);
  CHECK_EQ(0, ambit_field_components(NULL));
  CHECK(isnan(ambit_scalar_get(NULL)));
  CHECK_STR("", ambit_kernel_name(NULL));
  CHECK_EQ(0, ambit_program_converged(NULL));
  CHECK_EQ(0, ambit_program_iterations(NULL));
}

static void destroying_null_does_nothing(void)
{
  ambit_grid_destroy(NULL);
  ambit_field_destroy(NULL);
  ambit_scalar_destroy(NULL);
  ambit_kernel_destroy(NULL);
  ambit_program_destroy(NULL);
  CHECK_EQ(AMBIT_EINVAL, ambit_close(NULL));
}

static void constructors_without_an_owner_return_null(void)
{
  const int64_t one = 1;

  CHECK(!ambit_grid_create(NULL, 1, &one));
  CHECK(!ambit_field_create(NULL, "f", AMBIT_F32));
  CHECK(!ambit_field_create_vector(NULL, "f", AMBIT_F32, 2, AMBIT_SOA));
  CHECK(!ambit_scalar_create(NULL, "s", AMBIT_F32));
  CHECK(!ambit_kernel_create(NULL, copy_rule));
  CHECK(!ambit_kernel_load(NULL, "file"));
  CHECK(!ambit_kernel_create_weighted(NULL, "w", AMBIT_F32, NULL));
  CHECK(!ambit_kernel_create_named(NULL, "2d4", AMBIT_F32));
  CHECK(!ambit_program_create(NULL));
}

static void calls_on_nothing_return_a_status(void)
{
  float x = 0;
  ambit_arg arg = ambit_arg_number(1);

  CHECK_EQ(AMBIT_EINVAL, ambit_option_set(NULL, "strict", "1"));
  CHECK_EQ(AMBIT_EINVAL, ambit_field_boundary(NULL, 1, AMBIT_CLAMP, 0));
  CHECK_EQ(AMBIT_EINVAL, ambit_field_fill(NULL, count_call, NULL));
  CHECK_EQ(AMBIT_EINVAL, ambit_field_set(NULL, 0));
  CHECK_EQ(AMBIT_EINVAL, ambit_field_write(NULL, NULL, NULL, &x));
  CHECK_EQ(AMBIT_EINVAL, ambit_field_read(NULL, NULL, NULL, &x));
  CHECK_EQ(AMBIT_EINVAL, ambit_field_save(NULL, "x.npy"));
  CHECK_EQ(AMBIT_EINVAL, ambit_field_load(NULL, "x.npy"));
  CHECK_EQ(AMBIT_EINVAL, ambit_scalar_set(NULL, 1));
  CHECK_EQ(AMBIT_EINVAL, ambit_register_cpu(NULL, NULL));
  CHECK_EQ(AMBIT_EINVAL, ambit_apply_args(NULL, NULL, 1, &arg));
  CHECK_EQ(AMBIT_EINVAL, ambit_apply_box_args(NULL, NULL, NULL, NULL, 1, &arg));
  CHECK_EQ(AMBIT_EINVAL, ambit_apply_faces_args(NULL, 1, NULL, 1, &arg));
  CHECK_EQ(AMBIT_EINVAL, ambit_swap(NULL, NULL, NULL));
  CHECK_EQ(AMBIT_EINVAL, ambit_rotate(NULL, 2, NULL));
  CHECK_EQ(AMBIT_EINVAL, ambit_run(NULL, 1));
  CHECK_EQ(AMBIT_EINVAL, ambit_run_until(NULL, NULL, AMBIT_BELOW, 0, 1));
  CHECK_EQ(AMBIT_EINVAL, ambit_program_check_every(NULL, 1));
  CHECK_EQ(AMBIT_EINVAL, ambit_on_iteration(NULL, 1, NULL, NULL));
  CHECK(!ambit_program_stats(NULL, 0));
  CHECK_EQ(AMBIT_EINVAL, ambit_program_report(NULL));
  CHECK_EQ(AMBIT_EINVAL, ambit_stencil(NULL, NULL));
}

/* A call that fails because an argument is NULL says so, and the context stays usable. */
static void a_null_among_good_arguments_is_an_error(void)
{
  ambit *a = open_on("ref");
  ambit_grid *g = grid_1d(a, 4);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
  ambit_kernel *k = ambit_kernel_create(a, copy_rule);
  ambit_program *p = ambit_program_create(g);

#define REFUSED(call)                                                                              \
  do {                                                                                             \
    (void)(call);                                                                                  \
    CHECK_MSG(ambit_error(a), "%s was accepted", #call);                                           \
    ambit_error_clear(a);                                                                          \
  } while (0)
  REFUSED(ambit_grid_create(a, 1, NULL));
  REFUSED(ambit_field_create(g, NULL, AMBIT_F32));
  REFUSED(ambit_field_fill(f, NULL, NULL));
  REFUSED(ambit_field_write(f, NULL, NULL, NULL));
  REFUSED(ambit_field_read(f, NULL, NULL, NULL));
  REFUSED(ambit_field_save(f, NULL));
  REFUSED(ambit_field_load(f, NULL));
  REFUSED(ambit_scalar_create(a, NULL, AMBIT_F32));
  REFUSED(ambit_kernel_create(a, NULL));
  REFUSED(ambit_kernel_load(a, NULL));
  REFUSED(ambit_kernel_create_weighted(a, NULL, AMBIT_F32, NULL));
  REFUSED(ambit_kernel_create_weighted(a, "w", AMBIT_F32, NULL));
  REFUSED(ambit_kernel_create_named(a, NULL, AMBIT_F32));
  REFUSED(ambit_apply_args(p, NULL, 0, NULL));
  REFUSED(ambit_apply_args(p, k, 2, NULL));
  REFUSED(ambit_apply(p, k, f, (ambit_field *)NULL));
  REFUSED(ambit_apply_faces(p, AMBIT_LOW(0), NULL, f, f));
  REFUSED(ambit_swap(p, f, NULL));
  REFUSED(ambit_rotate(p, 2, NULL));
  REFUSED(ambit_run_until(p, NULL, AMBIT_BELOW, 0, 1));
  REFUSED(ambit_option_set(a, NULL, "1"));
  REFUSED(ambit_option_set(a, "strict", NULL));
  REFUSED(ambit_stencil(a, NULL));
  REFUSED(ambit_stencil(a, &(ambit_problem){.kernel = k}));
#undef REFUSED
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* ---- fork ---- */

/* What a child finds wrong, as bits. */
static int errors_of_child(const char *device, ambit *a, ambit_program *p, ambit_field *f)
{
  const bool is_opencl = !strcmp(device, "opencl");
  ambit *own = ambit_open(NULL, NULL);
  int bad = 0;

  ambit_on_error(a, NULL, NULL);
  ambit_on_error(own, NULL, NULL);
  if (ambit_run(p, 1) != AMBIT_EPROCESS) bad |= 1;
  if (ambit_field_set(f, 1) != AMBIT_EPROCESS) bad |= 2;
  ambit_option_set(own, "devices", device);
  if (is_opencl) ambit_scalar_create(own, "s", AMBIT_F32); /* opens the device */
  if (ambit_close(own) != (is_opencl ? AMBIT_ENODEVICE : AMBIT_OK)) bad |= 4;
  return bad;
}

static void check_child(const char *device)
{
  ambit *a = open_on(device);
  ambit_grid *g = grid_1d(a, 64);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);
  int status = -1;
  pid_t child = fork();

  if (!child) _exit(errors_of_child(device, a, p, f));
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK_MSG(!status, "%s: status %x", device, status);
  CHECK_EQ(AMBIT_OK, ambit_field_set(f, 1));
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_child_is_refused_the_context_of_its_parent(void)
{
  for (const char *const *d = devices_here(); *d; d++)
    if (strcmp(*d, "cuda")) check_child(*d); /* CUDA itself refuses children */
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_new_context_has_no_error", a_new_context_has_no_error},
      {"the_first_error_stays_and_close_returns_it", the_first_error_stays_and_close_returns_it},
      {"after_an_error_every_call_returns_at_once", after_an_error_every_call_returns_at_once},
      {"a_cleared_context_works_again_with_what_it_had",
       a_cleared_context_works_again_with_what_it_had},
      {"a_handler_is_told_once_per_error_at_once", a_handler_is_told_once_per_error_at_once},
      {"contexts_are_independent", contexts_are_independent},
      {"queries_accept_null", queries_accept_null},
      {"destroying_null_does_nothing", destroying_null_does_nothing},
      {"constructors_without_an_owner_return_null", constructors_without_an_owner_return_null},
      {"calls_on_nothing_return_a_status", calls_on_nothing_return_a_status},
      {"a_null_among_good_arguments_is_an_error", a_null_among_good_arguments_is_an_error},
      {"a_child_is_refused_the_context_of_its_parent",
       a_child_is_refused_the_context_of_its_parent},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
