/* SPDX-License-Identifier: BSD-3-Clause */
/* halide.cpp - Halide's JIT with the best of a list of schedules: the strongest peer on CPUs.
 *
 * One sweep per call, no fused iterations. Rows (2-D) or planes (3-D) are unrolled to share their
 * loads, x is vectorised, strips are distributed to Halide's threads (HL_NUM_THREADS). Every
 * candidate schedule is timed for a few sweeps on the problem itself; the fastest is then measured
 * and named in the output.
 */
#include "peer.h"

#include <Halide.h>
#include <string>
#include <vector>

using Halide::Buffer;
using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::Var;

// Rows (2-D) or planes (3-D) unrolled, vectors per step along x, rows per tile, rows or planes per
// parallel strip.
struct Schedule {
  int unroll, vectors, rows, strip;
  std::string text() const
  {
    return "unroll " + std::to_string(unroll) + " vectors " + std::to_string(vectors) + " rows " +
           std::to_string(rows) + " strip " + std::to_string(strip);
  }
};

// The schedules to try. Stencils with many points get only the usual tile and strip: they
// are limited by arithmetic, not by memory, and take seconds to compile.
static std::vector<Schedule> candidates(const peer_args &p)
{
  std::vector<Schedule> list;
  const bool flat = p.stencil.ndims == 2, large = p.stencil.points > 64;
  const int slow = static_cast<int>(flat ? p.extent[1] : p.extent[0]);
  const int rows = static_cast<int>(p.extent[1]);
  for (int unroll : {1, 2, 4, 8})
    for (int vectors : {1, 2})
      for (int strip : {8 * unroll, 32 * unroll, slow / 2})
        for (int tile : {flat ? 1 : rows, 16}) {
          if (strip < unroll || strip > slow || tile > rows || (flat && tile > 1)) continue;
          if (p.stencil.points * unroll * vectors > 512) continue; // slow to compile, never best
          if (large && (tile != 16 || strip != 8 * unroll)) continue;
          list.push_back({unroll, vectors, tile, strip});
        }
  return list;
}

class Sweep
{
public:
  Sweep(const peer_args &p, const Schedule &s)
      : input(p.is_double ? Halide::Float(64) : Halide::Float(32), p.stencil.ndims)
  {
    Expr sum;
    for (int q = 0; q < p.stencil.points; q++) {
      const Expr term = Halide::cast(input.type(), Expr(PEER_WEIGHT(q, p.stencil.points))) *
                        neighbour(p.stencil.offset[q], p.stencil.ndims);
      sum = sum.defined() ? sum + term : term;
    }
    if (p.stencil.ndims == 2)
      schedule2d(sum, s);
    else
      schedule3d(sum, s);
    out.compile_jit();
  }

  void run(Buffer<> &from, Buffer<> &to)
  {
    input.set(from);
    out.realize(to);
  }

private:
  Expr neighbour(const int *o, int ndims) const
  {
    return ndims == 2 ? input(x + o[2], y + o[1]) : input(x + o[2], y + o[1], z + o[0]);
  }

  int lanes(const Schedule &s) const
  {
    return s.vectors * Halide::get_jit_target_from_environment().natural_vector_size(input.type());
  }

  void schedule2d(const Expr &sum, const Schedule &s)
  {
    out(x, y) = sum;
    out.split(y, strip, y, s.strip).split(y, y, yi, s.unroll).split(x, x, xi, lanes(s));
    out.reorder(xi, yi, x, y, strip).vectorize(xi).unroll(yi).parallel(strip);
  }

  void schedule3d(const Expr &sum, const Schedule &s)
  {
    out(x, y, z) = sum;
    out.split(z, strip, z, s.strip).split(z, z, zi, s.unroll).split(y, y, yi, s.rows);
    out.split(x, x, xi, lanes(s)).reorder(xi, zi, x, yi, z, y, strip);
    out.vectorize(xi).unroll(zi).parallel(strip);
  }

  ImageParam input;
  Func out;
  Var x, y, z, xi, yi, zi, strip;
};

// Views of one array: with the ring as input, without it as output.
struct Array {
  Buffer<> input, output;
  Array(const peer_args &p, const peer_grid &g)
  {
    const int r = p.stencil.radius, nd = p.stencil.ndims;
    const auto type = p.is_double ? Halide::Float(64) : Halide::Float(32);
    const int64_t stride[3] = {1, g.pitch, g.plane};
    halide_dimension_t ring[3], inner[3];
    int64_t corner = g.origin;
    for (int d = 0; d < nd; d++) {
      const int n = static_cast<int>(g.extent[2 - d]), step = static_cast<int>(stride[d]);
      ring[d] = halide_dimension_t(-r, n + 2 * r, step);
      inner[d] = halide_dimension_t(0, n, step);
      corner -= r * stride[d];
    }
    char *memory = static_cast<char *>(peer_alloc(g.bytes));
    input = Buffer<>(type, memory + corner * type.bytes(), nd, ring);
    output = Buffer<>(type, memory + g.origin * type.bytes(), nd, inner);
    fill(memory, p, g);
  }

private:
  static void fill(char *memory, const peer_args &p, const peer_grid &g)
  {
    const int64_t r = p.stencil.radius, r0 = p.stencil.ndims == 3 ? r : 0;
    for (int64_t i = -r0; i < g.extent[0] + r0; i++)
      for (int64_t j = -r; j < g.extent[1] + r; j++)
        for (int64_t k = -r; k < g.extent[2] + r; k++) {
          const int64_t at = g.origin + i * g.plane + j * g.pitch + k;
          if (p.is_double)
            reinterpret_cast<double *>(memory)[at] = peer_value(i, j, k);
          else
            reinterpret_cast<float *>(memory)[at] = static_cast<float>(peer_value(i, j, k));
        }
  }
};

static double time_sweeps(Sweep &sweep, Array &a, Array &b, int iterations)
{
  const double start = peer_now();
  for (int n = 0; n < iterations; n++)
    n % 2 == 0 ? sweep.run(a.input, b.output) : sweep.run(b.input, a.output);
  return peer_now() - start;
}

static double value(const peer_args &p, const Buffer<> &b, int64_t at)
{
  return p.is_double ? reinterpret_cast<const double *>(b.data())[at]
                     : static_cast<double>(reinterpret_cast<const float *>(b.data())[at]);
}

// The sum over the offsets, in the order of the points.
static double naive(const peer_args &p, const peer_grid &g, const Buffer<> &from, int64_t at)
{
  double sum = 0;
  for (int q = 0; q < p.stencil.points; q++) {
    const int *o = p.stencil.offset[q];
    sum += PEER_WEIGHT(q, p.stencil.points) *
           value(p, from, at + o[0] * g.plane + o[1] * g.pitch + o[2]);
  }
  return sum;
}

// Compares one sweep of a small odd grid with the sum over the offsets, for every candidate.
static bool check(peer_args p)
{
  const int64_t extent[3] = {p.stencil.ndims == 3 ? 19 : 1, 37, 83};
  peer_grid g;
  double worst = 0;
  memcpy(p.extent, extent, sizeof extent);
  peer_grid_init(&g, &p.stencil, extent, p.is_double ? 8 : 4);
  Array a(p, g), b(p, g);
  for (const Schedule &s : candidates(p)) {
    Sweep(p, s).run(a.input, b.output);
    for (int64_t i = 0; i < extent[0]; i++)
      for (int64_t j = 0; j < extent[1]; j++)
        for (int64_t k = 0; k < extent[2]; k++) {
          const int64_t at = i * g.plane + j * g.pitch + k;
          worst = fmax(worst, fabs(value(p, b.output, at) - naive(p, g, a.output, at)));
        }
  }
  if (worst > (p.is_double ? 1e-13 : 1e-5))
    fprintf(stderr, "%s differs from the serial sum by %g\n", p.stencil.name, worst);
  return worst <= (p.is_double ? 1e-13 : 1e-5);
}

static Schedule best_schedule(const peer_args &p, Array &a, Array &b)
{
  Schedule best = {};
  double least = 1e300;
  for (const Schedule &s : candidates(p)) {
    Sweep sweep(p, s);
    time_sweeps(sweep, a, b, 1);
    for (int r = 0; r < 2; r++) {
      const double t = time_sweeps(sweep, a, b, 2);
      if (t < least) least = t, best = s;
    }
  }
  return best;
}

int main(int argc, char **argv)
{
  peer_args p;
  peer_grid g;
  if (!peer_args_parse(argc, argv, &p)) return peer_usage(argv[0]);
  if (p.check && !check(p)) return 1;
  peer_grid_init(&g, &p.stencil, p.extent, p.is_double ? 8 : 4);
  Array a(p, g), b(p, g);
  const Schedule s = best_schedule(p, a, b);
  Sweep sweep(p, s);
  std::vector<double> seconds;
  time_sweeps(sweep, a, b, 1);
  for (int r = 0; r < p.repetitions; r++)
    seconds.push_back(time_sweeps(sweep, a, b, p.iterations));
  peer_print("halide", &p, ("\"schedule\":\"" + s.text() + "\",").c_str(), seconds.data());
  return 0;
}
