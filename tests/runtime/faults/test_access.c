/* SPDX-License-Identifier: BSD-3-Clause */
/* Access checks, in builds that have them: accesses of a launch outside its fields are found on
 * every device, with kernel, field, cell and iteration. */
#include "ambit_compiled.h"
#include "runtime/faults/checked.h"

static ambit__operation *first_op(ambit_program *p, ambit__op_kind kind)
{
  size_t i = 0;

  while (i + 1 < p->schedule.n && p->schedule.ops[i].kind != kind)
    i++;
  return &p->schedule.ops[i];
}

/* A halo that lacks a column that is read. */
static void a_cell_that_is_not_kept_is_found(void)
{
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, AMBIT_F32, cross);

    CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
    if (!ambit__can(s.a->engines[0].device->backend, ghosts)) {
      ambit_close(s.a);
      continue;
    }
    ambit__halos_find(&s.p->halos, s.u)->slices[0].halo.reaches[0].reach.hi[1]--;
    ambit_run(s.p, 3);
    expect(
        &s,
        "kernel:3:49: error: kernel cross reads field 'u' at offset [0][1] from cell [0][10] "
        "in iteration 0: that is cell [0][11], outside the part's stored cells, [-1,10)x[-1,11)\n"
        "    *v = 0.25f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);\n"
        "                                                  ^~~~~~~");
  }
}

static void a_launch_on_too_many_cells_is_found(void)
{
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, AMBIT_F32, "void two(const float *u, float *v) { *v = *u + 1; }");

    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 1));
    first_op(s.p, OP_LAUNCH)->pieces[0].box.hi[1] += 1;
    ambit_run(s.p, 1);
    expect(&s, *d[0] == 'r' ? "kernel two writes field 'v' at cell [0][11] in iteration 1, outside "
                              "the part's own cells, [0,9)x[0,11)"
                            : "kernel two reads field 'u' at offset [0][0] from cell [0][11] in "
                              "iteration 1: that is cell [0][11], outside the part's stored cells, "
                              "[0,9)x[0,11)");
  }
}

static void a_field_with_too_little_memory_is_found(void)
{
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, AMBIT_F32, "void two(const float *u, float *v) { *v = *u + 1; }");

    s.v->stores[0].layout.stride[0] *= 100;
    ambit_run(s.p, 1);
    CHECK_MSG(strstr(ambit_error_text(s.a), "kernel two writes field 'v' at cell [1][0] in "
                                            "iteration 0, outside the field's memory of "),
              "%s: %s", *d, ambit_error_text(s.a));
    ambit_close(s.a);
  }
}

static void copy(const ambit_compiled_call *call)
{
  const float *u = call->origin[0];
  float *v = call->origin[1];

  for (int64_t i = call->lo[0]; i < call->hi[0]; i++)
    for (int64_t j = call->lo[1]; j < call->hi[1]; j++)
      v[i * call->stride[1][0] + j] = u[(i + 1) * call->stride[0][0] + j];
}

/* It cannot be instrumented, but the box of its launch is checked. */
static void a_registered_function_is_checked_from_outside(void)
{
  static const char text[] = "void down(const float *u, float *v) { *v = u[1][0]; }";
  scene s;

  CHECK_EQ(AMBIT_OK, ambit_register_cpu(text, copy));
  s = set_up("cpu", AMBIT_F32, text);
  ambit_apply(s.p, ambit_kernel_create(s.a, text), s.u, s.v);
  CHECK_EQ(AMBIT_OK, ambit_run(s.p, 1));
  first_op(s.p, OP_LAUNCH)->pieces[0].box.lo[0] -= 1;
  ambit_run(s.p, 1);
  expect(&s, "kernel down writes field 'v' at cell [-1][0] in iteration 1, outside the part's own "
             "cells, [0,9)x[0,11)");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_cell_that_is_not_kept_is_found", a_cell_that_is_not_kept_is_found},
      {"a_launch_on_too_many_cells_is_found", a_launch_on_too_many_cells_is_found},
      {"a_field_with_too_little_memory_is_found", a_field_with_too_little_memory_is_found},
      {"a_registered_function_is_checked_from_outside",
       a_registered_function_is_checked_from_outside},
      {0}};

  return test_main(argc, argv, tests);
}
