/* SPDX-License-Identifier: BSD-3-Clause */
/* list.h - all backends, best first. Included several times, hence no guard. To add a backend, add
 * its folder and one line here. */
AMBIT_BACKEND(cpu)
AMBIT_BACKEND(cuda)
AMBIT_BACKEND(opencl)
AMBIT_BACKEND(ref)
