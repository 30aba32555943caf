/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_centre.c - rules that reach far along y, where shared memory holds few planes.
 *
 * A warp loads its own rows of all planes into registers, some planes ahead, as windows do. Stars
 * read the rows of other warps, and the cells beside a lane's, only in the plane of the cells that
 * are computed: in the centre of the window. A plane is put into shared memory when it is the next
 * one: every warp stores its own rows from registers. The rows beside the block's, and the vectors
 * beside the strip, are loaded into registers, too, one of each per lane.
 *
 *        below     warp 0      <- rows beside the block: a warp each
 *        warps x rows          <- own rows, with the vectors beside the strip
 *        above     warp 7
 *
 * There are two slots, for the plane that is computed and the next one, and one barrier per plane:
 * after it, the plane is complete, and that before it is not read any more. Lanes exchange
 * nothing, so it suits OpenCL.
 */
#include "plan/stream.h"

#include <stdio.h>

bool ambit__stream_is_central(const ambit__stream_job *j, const ambit__stream *s)
{
  for (int q = 0; q < s->nrows; q++) {
    const ambit__stream_row *r = &s->rows[q];
    const bool own = q >= s->below && q < s->below + j->rows;

    if (r->is_read && (r->low > 0 || r->high < 0 || (!own && r->low != r->high))) return false;
    if (r->has_edges && (r->edge || r->edge_low)) return false;
  }
  return true;
}

int ambit__stream_centre_registers(const ambit__stream_job *j, const ambit__stream *s)
{
  return j->ahead * j->lane * (1 + (ambit__stream_ring_beside(j, s) > 0));
}

/* ---- declarations ---- */

void ambit__stream_declare_planes(const ambit__stream_job *j)
{
  ambit__line(j->gpu.w, "AMBIT_PLANES(%zu);", ambit__stream_ring_bytes(j, j->gpu.rule));
}

/* "if ((int)threadIdx.y < 8) ": the warps that have a row beside the block's. */
static void print_if_warp(const ambit__stream_job *j, const ambit__stream *s)
{
  if (s->below + s->above < j->warps)
    ambit__print(j->gpu.t, "if (%s < %d) ", j->gpu.dialect->thread[1], s->below + s->above);
}

/* The lanes that have a vector beside the strip. */
static void print_if_lane(const ambit__stream_job *j, const ambit__stream *s)
{
  const int n = ambit__stream_ring_beside(j, s) * j->rows;

  if (n < AMBIT__STREAM_WARP) ambit__print(j->gpu.t, "if (%s < %d) ", j->gpu.dialect->thread[0], n);
}

/* u_y: the row beside the block's that the warp has; u_f: the lane's cells there, in plane 0; u_p:
 * their place. Rows after the block's follow the last one that exists. */
static void declare_row(const ambit__stream_job *j, const ambit__stream *s)
{
  const char *warp = j->gpu.dialect->thread[1];

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int ");
  ambit__stream_print_name(j, s, 'y');
  ambit__print(j->gpu.t,
               " = %s < %d ? top - %d + %s : ambit_least(ambit_least(top + %d, high%d) + %s - %d, "
               "high%d + %d)",
               warp, s->below, s->below, warp, j->warps * j->rows, j->y, warp, s->below, j->y,
               s->above - 1);
  ambit__line_end(j->gpu.w, ";");
  ambit__stream_ring_declare_cells(j, s, 0);
  ambit__stream_ring_place(j, s, 'p');
  ambit__print(j->gpu.t, "(");
  ambit__stream_print_name(j, s, 'y');
  ambit__print(j->gpu.t, " - top + %d) * %d + x - left + %d", s->below,
               ambit__stream_ring_width(j, s), s->left);
  ambit__line_end(j->gpu.w, ");");
}

static void declare_beside(const ambit__stream_job *j, const ambit__stream *s)
{
  const int n = ambit__stream_ring_beside(j, s);
  char row[120], place[160];

  if (!n) return;
  snprintf(row, sizeof row, "y + ambit_least(%s / %d, %d)", j->gpu.dialect->thread[0], n,
           j->rows - 1);
  snprintf(place, sizeof place, "%s - top + %d", row, s->below);
  ambit__stream_ring_declare_beside(j, s, place, row);
}

/* "float u_g[2][4];" */
static void declare_registers(const ambit__stream_job *j, const ambit__stream *s, char kind)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s ", ambit__gpucode_type(&j->gpu, s->param));
  ambit__stream_print_name(j, s, kind);
  ambit__print(j->gpu.t, "[%d][%d]", j->ahead, j->lane);
  ambit__line_end(j->gpu.w, ";");
}

void ambit__stream_declare_centre(const ambit__stream_job *j, const ambit__stream *s)
{
  declare_row(j, s);
  declare_beside(j, s);
  declare_registers(j, s, 'g');
  if (ambit__stream_ring_beside(j, s)) declare_registers(j, s, 'e');
}

/* ---- a plane ---- */

/* "u_g[(p + 1) % 2]": the registers of the row, or the vector, of a plane. */
static void print_registers(const ambit__stream_job *j, const ambit__stream *s, char kind,
                            const ambit__stream_moment *m)
{
  ambit__stream_print_name(j, s, kind);
  if (m->is_first || j->ahead == 1)
    ambit__print(j->gpu.t, "[%d]", m->plane % j->ahead);
  else
    ambit__print(j->gpu.t, "[(p + %d) %% %d]", m->plane % j->ahead, j->ahead);
}

/* "ambit_publish<4>(u_p[(p + 1) % 2], u_g[(p + 1) % 2]);" */
static void publish(const ambit__stream_job *j, const ambit__stream *s, char place, char kind,
                    const ambit__stream_moment *m)
{
  ambit__stream_print_call(j, "ambit_publish", s->param, j->lane);
  ambit__stream_print_name(j, s, place);
  ambit__stream_ring_slot(j, m);
  ambit__print(j->gpu.t, ", ");
  print_registers(j, s, kind, m);
  ambit__line_end(j->gpu.w, ");");
}

/* Stores the parts of the plane of a moment that this warp has. */
static void publish_plane(const ambit__stream_job *j, const ambit__stream *s,
                          const ambit__stream_moment *m)
{
  ambit__stream_unroll(j, "q", 0, j->rows);
  ambit__line_begin(j->gpu.w);
  ambit__stream_print_call(j, "ambit_publish", s->param, j->lane);
  ambit__stream_print_name(j, s, 'r');
  ambit__stream_ring_slot(j, m);
  ambit__print(j->gpu.t, " + q * %d, &", ambit__stream_ring_width(j, s));
  ambit__stream_print_name(j, s, 'w');
  if (m->is_first)
    ambit__print(j->gpu.t, "[%d]", m->plane);
  else
    ambit__stream_print_moment(j, m);
  ambit__print(j->gpu.t, "[q][0]");
  ambit__line_end(j->gpu.w, ");");
  ambit__close(j->gpu.w);
  ambit__line_begin(j->gpu.w);
  print_if_warp(j, s);
  publish(j, s, 'p', 'g', m);
  if (!ambit__stream_ring_beside(j, s)) return;
  ambit__line_begin(j->gpu.w);
  print_if_lane(j, s);
  publish(j, s, 'b', 'e', m);
}

/* "ambit_load_now_float_4(u_g[0], u_f" */
static void print_load(const ambit__stream_job *j, const ambit__stream *s, char to,
                       const ambit__stream_moment *m)
{
  ambit__stream_print_call(j, "ambit_load_now", s->param, j->lane);
  print_registers(j, s, to, m);
  ambit__print(j->gpu.t, ", ");
  ambit__stream_print_name(j, s, 'f');
}

/* Loads what is beside the block's cells in the plane of a moment. Planes past the last one repeat
 * it. */
static void load_plane(const ambit__stream_job *j, const ambit__stream *s,
                       const ambit__stream_moment *m)
{
  ambit__line_begin(j->gpu.w);
  print_if_warp(j, s);
  print_load(j, s, 'g', m);
  ambit__line_end(j->gpu.w, ");");
  if (ambit__stream_ring_beside(j, s)) {
    ambit__line_begin(j->gpu.w);
    print_if_lane(j, s);
    print_load(j, s, 'e', m);
    ambit__print(j->gpu.t, " + ");
    ambit__stream_print_name(j, s, 'd');
    ambit__line_end(j->gpu.w, ");");
  }
  ambit__line_begin(j->gpu.w);
  ambit__stream_print_name(j, s, 'f');
  ambit__print(j->gpu.t, m->is_first ? " += %d < n - 1" : " += p + %d < rest - 1", m->plane);
  ambit__print(j->gpu.t, " ? %s_s%d : 0", j->gpu.rule->params[s->param].name, j->z);
  ambit__line_end(j->gpu.w, ";");
}

void ambit__stream_centre_first(const ambit__stream_job *j)
{
  for (int i = 0; i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];
    ambit__stream_moment m = {.is_first = true};

    if (!s->ring) continue;
    load_plane(j, s, &m);
    publish_plane(j, s, &m);
    for (m.plane = 1; m.plane <= j->ahead; m.plane++)
      load_plane(j, s, &m);
  }
}

/* u_c: the rows of the plane that is computed, the warp's own between those of others, with the
 * cells beside the lane's. */
static void declare_plane(const ambit__stream_job *j, const ambit__stream *s)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s ", ambit__gpucode_type(&j->gpu, s->param));
  ambit__stream_print_name(j, s, 'c');
  ambit__print(j->gpu.t, "[%d][%d]", s->nrows, s->left + j->lane + s->right);
  ambit__line_end(j->gpu.w, ";");
  ambit__stream_unroll(j, "q", 0, j->rows);
  ambit__stream_unroll(j, "k", 0, j->lane);
  ambit__line_begin(j->gpu.w);
  ambit__stream_print_name(j, s, 'c');
  ambit__print(j->gpu.t, "[q + %d][k + %d] = ", s->below, s->left);
  ambit__stream_print_name(j, s, 'w');
  ambit__stream_print_moment(j, &(ambit__stream_moment){.plane = 0});
  ambit__line_end(j->gpu.w, "[q][k];");
  ambit__close(j->gpu.w);
  ambit__close(j->gpu.w);
}

void ambit__stream_centre_next(const ambit__stream_job *j)
{
  ambit__line(j->gpu.w, "%s;", j->gpu.dialect->barrier);
  for (int i = 0; i < j->nstreams; i++) {
    const ambit__stream *s = &j->streams[i];

    if (!s->ring) continue;
    publish_plane(j, s, &(ambit__stream_moment){.plane = 1});
    load_plane(j, s, &(ambit__stream_moment){.plane = 1 + j->ahead});
    declare_plane(j, s);
  }
}
