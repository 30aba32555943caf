/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c - lists of active cells, by hand: on cores a loop over cells, on GPUs functions that are
 * registered for kernels on a dense grid of one axis, where a cell can read any other.
 *
 * Cells are in the order of rows. A field `near` has the numbers of the neighbours. An inactive one
 * is the cell behind the last, which is 0; in D3Q19 it is -1, and the population comes back.
 */
#include "ambit_compiled.h"
#include "sparse.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACES = 6, LINKS = 18 }; /* neighbours */

/* Where populations come from, in the order of the kernel; the first ones are faces. */
static const int links[LINKS][3] = {{0, 0, -1},  {0, 0, 1},   {0, -1, 0}, {0, 1, 0},  {-1, 0, 0},
                                    {1, 0, 0},   {0, -1, -1}, {0, 1, 1},  {0, -1, 1}, {0, 1, -1},
                                    {-1, 0, -1}, {1, 0, 1},   {-1, 0, 1}, {1, 0, -1}, {-1, -1, 0},
                                    {1, 1, 0},   {-1, 1, 0},  {1, -1, 0}};

/* ---- neighbours ---- */

typedef struct cells {
  int64_t n;
  int32_t *near; /* by cell; owned */
} cells;

/* The number of each cell of the box; -1: inactive. */
static int32_t *number_cells(const mask *m, int64_t *active)
{
  const int64_t n = m->n;
  int32_t *number = malloc((size_t)(n * n * n) * sizeof *number);

  *active = 0;
  for (int64_t c = 0; number && c < n * n * n; c++) {
    const int64_t at[3] = {c / n / n, c / n % n, c % n};

    number[c] = is_active(at, (void *)m) ? (int32_t)(*active)++ : -1;
  }
  return number;
}

static int32_t neighbour(const int32_t *number, int64_t n, int64_t c, const int *link)
{
  const int64_t z = c / n / n + link[0], y = c / n % n + link[1], x = c % n + link[2];
  const bool inside = z >= 0 && z < n && y >= 0 && y < n && x >= 0 && x < n;

  return inside ? number[(z * n + y) * n + x] : -1;
}

/* `none` stands for an inactive neighbour; 0: the cell behind the last. */
static cells find_near(const mask *m, int links_per_cell, int32_t none)
{
  cells l = {0};
  int32_t *number = number_cells(m, &l.n);
  int64_t k = 0;

  l.near = malloc((size_t)(l.n + 1) * (size_t)links_per_cell * sizeof *l.near);
  for (int64_t c = 0; number && l.near && c < m->n * m->n * m->n; c++)
    for (int i = 0; number[c] >= 0 && i < links_per_cell; i++) {
      const int32_t there = neighbour(number, m->n, c, links[i]);

      l.near[k++] = there >= 0 ? there : none ? none : (int32_t)l.n;
    }
  for (int i = 0; l.near && i < links_per_cell; i++)
    l.near[k++] = 0; /* of the last one, which is no cell */
  free(number);
  return l;
}

/* ---- on cores ---- */

struct list {
  cells cells;
  float *u, *v;
};

list *list_make(const mask *m)
{
  list *l = malloc(sizeof *l);

  if (!l) return NULL;
  l->cells = find_near(m, FACES, 0);
  l->u = calloc((size_t)l->cells.n + 1, sizeof *l->u);
  l->v = calloc((size_t)l->cells.n + 1, sizeof *l->v);
  if (l->cells.near && l->u && l->v) return l;
  list_free(l);
  return NULL;
}

void list_free(list *l)
{
  if (!l) return;
  free(l->cells.near);
  free(l->u);
  free(l->v);
  free(l);
}

double list_run(list *l, double seconds)
{
  double start = now(), spent;
  int n = 0;

  do {
    float *t = l->u;

#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < l->cells.n; i++) {
      const int32_t *k = l->cells.near + FACES * i;

      l->v[i] = 0.4f * l->u[i] + 0.1f * (l->u[k[0]] + l->u[k[1]] + l->u[k[2]] + l->u[k[3]] +
                                         l->u[k[4]] + l->u[k[5]]);
    }
    l->u = l->v;
    l->v = t;
    n++;
    spent = now() - start;
  } while (spent < seconds);
  return spent / n;
}

/* ---- on GPUs ---- */

/* The kernels that the functions are registered for: they have the same parameters, and run where
 * there is no GPU. */
static const char *const rules[] = {
    "void star_list(const float *u, float *v, const int *near[6])"
    "{ *v = *u + (float)*near[0]; }",
    "void d3q19_list(const float *f[19], float *g[19], const int *near[18])"
    "{ for (int i = 0; i < 19; i++) *g[i] = *f[i] + (float)*near[0]; }",
    "void matvec_list(const float *p, float *q, const int *near[6], sum double *pq)"
    "{ *q = *p + (float)*near[0]; *pq = (double)*q; }"};

static const char *const launches[] = {
    "// ambit-launch: star_list 1d threads 256 blocks n0 / 256\n",
    "// ambit-launch: d3q19_list 1d threads 256 blocks n0 / 256\n",
    "// ambit-launch: matvec_list 1d threads 256 blocks n0 / 256 at most 1056\n"};

static const char cuda[] = "typedef long long integer;\n"
                           "#define KERNEL extern \"C\" __global__ void __launch_bounds__(256)\n"
                           "#define GLOBAL\n"
                           "#define LOCAL __shared__\n"
                           "#define RESTRICT __restrict__\n"
                           "#define THREAD ((integer)threadIdx.x)\n"
                           "#define BLOCK ((integer)blockIdx.x)\n"
                           "#define BLOCKS ((integer)gridDim.x)\n"
                           "#define BARRIER __syncthreads()\n";

static const char opencl[] = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                             "typedef long integer;\n"
                             "#define KERNEL kernel void\n"
                             "#define GLOBAL global\n"
                             "#define LOCAL local\n"
                             "#define RESTRICT restrict\n"
                             "#define THREAD ((integer)get_local_id(0))\n"
                             "#define BLOCK ((integer)get_group_id(0))\n"
                             "#define BLOCKS ((integer)get_num_groups(0))\n"
                             "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n";

/* The parameters of a field, and of the box behind all others. */
static const char arguments[] =
    "#define FIELD(type, name) \\\n"
    "  GLOBAL type *RESTRICT name, integer name##_o, integer name##_s, integer name##_c\n"
    "#define BOX integer lo, integer hi, integer offset, integer extent, integer step\n"
    "#define SUM(u) (u[near[0]] + u[near[near_c]] + u[near[2 * near_c]] + u[near[3 * near_c]] + "
    "\\\n"
    "                u[near[4 * near_c]] + u[near[5 * near_c]])\n";

static const char star[] =
    "KERNEL star_list(FIELD(const float, u), FIELD(float, v), FIELD(const int, near), BOX)\n"
    "{\n"
    "  const integer i = BLOCK * 256 + THREAD;\n"
    "  if (i >= extent - 1) return;\n"
    "  u += u_o;\n"
    "  near += near_o + i;\n"
    "  v[v_o + i] = 0.4f * u[i] + 0.1f * SUM(u);\n"
    "}\n";

static const char d3q19[] =
    "KERNEL d3q19_list(FIELD(const float, f), FIELD(float, g), FIELD(const int, near), BOX)\n"
    "{\n"
    "  const int e[19][3] = {{0, 0, 0},  {0, 0, 1},   {0, 0, -1},  {0, 1, 0},   {0, -1, 0},\n"
    "                        {1, 0, 0},  {-1, 0, 0},  {0, 1, 1},   {0, -1, -1}, {0, 1, -1},\n"
    "                        {0, -1, 1}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1},\n"
    "                        {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}};\n"
    "  const int back[19] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};\n"
    "  const integer k = BLOCK * 256 + THREAD;\n"
    "  float q[19], rho, x = 0, y = 0, z = 0, r;\n"
    "  if (k >= extent - 1) return;\n"
    "  f += f_o;\n"
    "  g += g_o;\n"
    "  near += near_o + k;\n"
    "  rho = q[0] = f[k];\n"
    "  #pragma unroll\n"
    "  for (int i = 1; i < 19; i++) {\n"
    "    const int from = near[(i - 1) * near_c];\n"
    "    q[i] = f[from < 0 ? back[i] * f_c + k : i * f_c + from];\n"
    "    rho += q[i];\n"
    "    z += (float)e[i][0] * q[i];\n"
    "    y += (float)e[i][1] * q[i];\n"
    "    x += (float)e[i][2] * q[i];\n"
    "  }\n"
    "  r = 1.0f / rho;\n"
    "  x = x * r;\n"
    "  y = y * r;\n"
    "  z = z * r;\n"
    "  #pragma unroll\n"
    "  for (int i = 0; i < 19; i++) {\n"
    "    const float w = i == 0 ? 1.0f / 3 : i < 7 ? 1.0f / 18 : 1.0f / 36;\n"
    "    const float eu = 3.0f * ((float)e[i][0] * z + (float)e[i][1] * y + (float)e[i][2] * x);\n"
    "    g[i * g_c + k] = q[i] + 0.6f * (w * rho * (1.0f + eu + 0.5f * eu * eu -\n"
    "                                               1.5f * (x * x + y * y + z * z)) - q[i]);\n"
    "  }\n"
    "}\n";

static const char matvec[] =
    "#define FOLD(n) \\\n"
    "  sums[THREAD] = sum; \\\n"
    "  for (int left = n / 2; left; left /= 2) { \\\n"
    "    BARRIER; \\\n"
    "    if (THREAD < left) sums[THREAD] += sums[THREAD + left]; \\\n"
    "  }\n"
    "KERNEL matvec_list(FIELD(const float, p), FIELD(float, q), FIELD(const int, near),\n"
    "                   GLOBAL double *partial, BOX)\n"
    "{\n"
    "  LOCAL double sums[256];\n"
    "  double sum = 0;\n"
    "  p += p_o;\n"
    "  near += near_o + BLOCK * 256 + THREAD;\n"
    "  for (integer i = BLOCK * 256 + THREAD; i < extent - 1; i += BLOCKS * 256) {\n"
    "    const float here = p[i], there = 6.0f * here - SUM(p);\n"
    "    q[q_o + i] = there;\n"
    "    sum += (double)here * there;\n"
    "    near += BLOCKS * 256;\n"
    "  }\n"
    "  FOLD(256)\n"
    "  if (THREAD == 0) partial[BLOCK] = sums[0];\n"
    "}\n"
    "KERNEL matvec_list_fold(GLOBAL double *partial, GLOBAL double *pq, integer blocks,\n"
    "                        integer more)\n"
    "{\n"
    "  LOCAL double sums[128];\n"
    "  double sum = 0;\n"
    "  for (integer i = THREAD; i < blocks; i += 128) sum += partial[i];\n"
    "  FOLD(128)\n"
    "  if (THREAD == 0) *pq = sums[0] + (more ? *pq : 0);\n"
    "}\n";

/* Registers the function of a kernel for both languages. */
static ambit_status register_list(int kind)
{
  const char *const bodies[] = {star, d3q19, matvec};

  for (int k = 0; k < 2; k++) {
    char text[8000];
    ambit_status s;

    snprintf(text, sizeof text, "%s%s%s%s", launches[kind], k ? opencl : cuda, arguments,
             bodies[kind]);
    s = ambit_register_source(rules[kind], k ? AMBIT_OPENCL : AMBIT_CUDA, text);
    if (s) return s;
  }
  return AMBIT_OK;
}

job list_job(ambit *a, const mask *m, int kind)
{
  static const float nought[19];
  const int components = kind == D3Q19 ? 19 : 1, links_per_cell = kind == D3Q19 ? LINKS : FACES;
  cells l = find_near(m, links_per_cell, kind == D3Q19 ? -1 : 0);
  const int64_t extent = l.n + 1;
  ambit_grid *g = ambit_grid_create(a, 1, &extent);
  ambit_field *u = ambit_field_create_vector(g, "u", AMBIT_F32, components, AMBIT_SOA);
  ambit_field *v = ambit_field_create_vector(g, "v", AMBIT_F32, components, AMBIT_SOA);
  ambit_field *near = ambit_field_create_vector(g, "near", AMBIT_I32, links_per_cell, AMBIT_SOA);
  ambit_scalar *sum = ambit_scalar_create(a, "sum", AMBIT_F64);
  ambit_kernel *k = register_list(kind) ? NULL : ambit_kernel_create(a, rules[kind]);
  job j = {g, ambit_program_create(g), kind == MATVEC ? v : u, (double)l.n, 1e9};

  ambit_field_set(u, 0.05);
  ambit_field_write(u, &l.n, &extent, nought);
  ambit_field_write(near, NULL, NULL, l.near);
  if (kind == MATVEC)
    ambit_apply(j.program, k, u, v, near, sum);
  else
    ambit_apply(j.program, k, u, v, near);
  if (kind != MATVEC) ambit_swap(j.program, u, v);
  ambit_run(j.program, 1);
  free(l.near);
  return j;
}
