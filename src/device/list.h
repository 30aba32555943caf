/* list.h - every backend there is, best first. Included several times, hence no guard. To add a
 * backend: its folder and one line here. */
AMBIT_BACKEND(cpu)
AMBIT_BACKEND(cuda)
AMBIT_BACKEND(opencl)
AMBIT_BACKEND(ref)
