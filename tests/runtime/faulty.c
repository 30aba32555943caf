/* A program on several processes in which one fails in mid-run; test_faults.py looks at how the others end.
 *
 *   faulty fine|kill|device
 *
 * device: the launch of a kernel fails on the last process. The linker puts a function of ours before the one that
 * walks the operations of an iteration.
 */
#include "runtime/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char rule[] =
    AMBIT_SOURCE(void smooth(const float *u, float *v) { *v = 0.5f * (u[-1][0] + u[1][0]); });

static const char *way;

ambit_status __real_ambit__program_iterate(ambit_program *p);
ambit_status __wrap_ambit__program_iterate(ambit_program *p);

ambit_status __wrap_ambit__program_iterate(ambit_program *p)
{
  ambit *a = p->grid->context;

  if (p->iteration == 5 && ambit_process(a) == ambit_processes(a) - 1) {
    if (!strcmp(way, "kill")) raise(SIGKILL);
    if (!strcmp(way, "device"))
      return ambit__raise(&a->errors, AMBIT_EDEVICE, "the device has lost its memory");
  }
  return __real_ambit__program_iterate(p);
}

static double hill(const int64_t *index, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)(index[0] % 7);
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){60, 40});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
  ambit_program *p = ambit_program_create(g);

  way = argc > 1 ? argv[1] : "fine";
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, hill, NULL);
  ambit_apply(p, ambit_kernel_create(a, rule), u, v);
  ambit_swap(p, u, v);
  ambit_run(p, 100);
  printf("process %d of %d did %d iterations\n", ambit_process(a), ambit_processes(a),
         (int)ambit_program_iterations(p));
  return ambit_close(a) != AMBIT_OK;
}
