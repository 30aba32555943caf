/* SPDX-License-Identifier: BSD-3-Clause */
/* header_user.c - uses of ambit.h, compiled in every supported language.
 *
 * check_header.py compiles it as C and as C++ and never runs it: it tests the header.
 */
#include <ambit.h>

extern const char rule[];
const char rule[] = AMBIT_SOURCE(void heat(const float *u, float *v, float k, max float *change) {
  *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
  *change = fabsf(*v - *u);
});

extern const char other_rule[];
const char other_rule[] = AMBIT_HERE "void twice(const float *u, float *v)\n"
                                     "{ *v = 2 * *u; }\n";

ambit_status steps(ambit_program *p, const ambit_kernel *k, ambit_field *u, ambit_field *v,
                   ambit_scalar *change);
ambit_status steps(ambit_program *p, const ambit_kernel *k, ambit_field *u, ambit_field *v,
                   ambit_scalar *change)
{
  const ambit_field *source = u;
  const ambit_scalar *factor = change;
  const int64_t lo[] = {0, 0}, hi[] = {1, 1};
  const ambit_param_info *info;
  ambit_field *turn[3];
  ambit_arg args[4];
  float single = 0.2f;
  int whole = 1;

  args[0] = ambit_arg_field(u);
  args[1] = ambit_arg_field(v);
  args[2] = ambit_arg_number(0.2);
  args[3] = ambit_arg_scalar(change);
  turn[0] = u;
  turn[1] = v;
  turn[2] = u;
  for (int i = 0; i < ambit_kernel_params(k); i++) {
    if (!(info = ambit_kernel_param(k, i))) return AMBIT_EINVAL;
    if (info->kind == AMBIT_PARAM_FIELD && info->noffsets && info->offsets[0].axis[0]) whole = i;
  }
  if (ambit_apply_args(p, k, 4, args)) return ambit_swap(p, u, v);
  if (ambit_apply(p, k, u, v, 0.2, change)) return AMBIT_EINVAL;
  if (ambit_apply(p, k, source, v, single, factor)) return AMBIT_EINVAL;
  if (ambit_apply(p, k, u)) return AMBIT_EINVAL;
  if (ambit_apply_box(p, lo, hi, k, u, v, whole, change)) return AMBIT_EINVAL;
  if (ambit_apply_box(p, AMBIT_INDEX(0, whole), AMBIT_INDEX(1, 1), k, u, v, 1, change))
    return AMBIT_EINVAL;
  if (ambit_apply_box(p, AMBIT_INDEX(1), hi, k, u)) return AMBIT_EINVAL;
  if (ambit_apply_box_args(p, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), k, 4, args))
    return AMBIT_EINVAL;
  if (ambit_field_boundary(u, AMBIT_ALL_FACES & ~AMBIT_LOW(0), AMBIT_CONSTANT, 1))
    return AMBIT_EINVAL;
  if (ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, change)) return AMBIT_EINVAL;
  if (ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_DIRICHLET, source)) return AMBIT_EINVAL;
  if (ambit_field_read(u, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), &single)) return AMBIT_EINVAL;
  if (ambit_apply_faces(p, AMBIT_LOW(0) | AMBIT_AXIS(1), k, u, v, 1, change)) return AMBIT_EINVAL;
  if (ambit_sweep(p, AMBIT_LOW(0), k, u, v, 1)) return AMBIT_EINVAL;
  if (ambit_sweep_box(p, AMBIT_HIGH(1), AMBIT_INDEX(0, 0), hi, k, u, v)) return AMBIT_EINVAL;
  return ambit_rotate(p, 3, turn);
}
