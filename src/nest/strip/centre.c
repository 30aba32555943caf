/* SPDX-License-Identifier: BSD-3-Clause */
/* centre.c - rules that reach far along y, where shared memory holds few planes.
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
 * nothing, so it suits OpenCL: on an H200 the star of radius 4 has 356 Gcells/s through it, 226
 * without this; in double 174 and 81; the wave of order 8 217 and 151.
 */
#include "nest/strip/strip.h"

bool ambit__strip_is_central(const ambit__strip *w, const ambit__strip_value *s)
{
  for (int q = 0; q < s->nrows; q++) {
    const ambit__value_row *r = &s->rows[q];
    const bool own = q >= s->below && q < s->below + w->rows;

    if (r->is_read && (r->low > 0 || r->high < 0 || (!own && r->low != r->high))) return false;
    if (r->has_edges && (r->edge || r->edge_low)) return false;
  }
  return true;
}

int ambit__strip_centre_registers(const ambit__strip *w, const ambit__strip_value *s)
{
  return w->ahead * w->lane * (1 + (ambit__strip_ring_beside(w, s) > 0));
}

/* ---- declarations ---- */

/* u_y: the row beside the block's that the warp has; u_f: the lane's cells there, in plane 0; u_p:
 * their place. Rows after the block's follow the last one that exists. */
static void let_row(const ambit__strip *w, const ambit__strip_value *s)
{
  const char *warp = w->n->dialect->thread[1], *y = ambit__strip_name(w, s, 'y');

  ambit__nest_do(w->n,
                 "const int %s = %s < %d ? top - %d + %s : ambit_least(ambit_least(top + %d, "
                 "high%d) + %s - %d, high%d + %d)",
                 y, warp, s->below, s->below, warp, w->warps * w->rows, w->y, warp, s->below, w->y,
                 s->above - 1);
  ambit__strip_let_cells(w, s, 0);
  ambit__strip_let_place(w, s, 'p',
                         ambit__nest_text(w->n, "(%s - top + %d) * %d + x - left + %d", y, s->below,
                                          ambit__strip_ring_width(w, s), s->left));
}

static void let_array(const ambit__strip *w, const ambit__strip_value *s, char kind, int rows,
                      int cells)
{
  ambit__nest_add(w->n, (ambit__node){.kind = NODE_ARRAY,
                                      .type = ambit__nest_type(w->n, s->param),
                                      .name = ambit__strip_name(w, s, kind),
                                      .size = {rows, cells}});
}

void ambit__strip_let_centre(const ambit__strip *w, const ambit__strip_value *s)
{
  const int n = ambit__strip_ring_beside(w, s);

  let_row(w, s);
  if (n) {
    const char *row = ambit__nest_text(w->n, "y + ambit_least(%s / %d, %d)",
                                       w->n->dialect->thread[0], n, w->rows - 1);

    ambit__strip_let_beside(w, s, ambit__nest_text(w->n, "%s - top + %d", row, s->below), row);
  }
  let_array(w, s, 'g', w->ahead, w->lane);
  if (n) let_array(w, s, 'e', w->ahead, w->lane);
}

/* ---- a plane ---- */

/* The parts of a plane beside the block's cells: its row in a warp, and its vector in a lane, if
 * these have one. */
typedef struct part {
  char place, registers; /* letters of names: in shared memory, and where it is loaded */
  const char *thread;
  int have, all; /* the first `have` threads of `all` have one */
  const char *away;
} part;

static int parts_of(const ambit__strip *w, const ambit__strip_value *s, part parts[2])
{
  const char *const *thread = w->n->dialect->thread;
  const int beside = ambit__strip_ring_beside(w, s) * w->rows;

  parts[0] = (part){'p', 'g', thread[1], s->below + s->above, w->warps, ""};
  parts[1] = (part){'b', 'e', thread[0], beside, AMBIT__WARP, ""};
  if (beside) parts[1].away = ambit__nest_text(w->n, " + %s", ambit__strip_name(w, s, 'd'));
  return beside ? 2 : 1;
}

static void open_part(const ambit__strip *w, const part *p)
{
  if (p->have < p->all) ambit__nest_if(w->n, "%s < %d", p->thread, p->have);
}

static void close_part(const ambit__strip *w, const part *p)
{
  if (p->have < p->all) ambit__nest_close(w->n);
}

/* "u_g[(p + 1) % 2]": the registers of a part of a plane. */
static const char *registers_of(const ambit__strip *w, const ambit__strip_value *s, const part *p,
                                const ambit__strip_moment *m)
{
  const char *name = ambit__strip_name(w, s, p->registers);

  if (m->is_first || w->ahead == 1)
    return ambit__nest_text(w->n, "%s[%d]", name, m->plane % w->ahead);
  return ambit__nest_text(w->n, "%s[(p + %d) %% %d]", name, m->plane % w->ahead, w->ahead);
}

/* Stores the parts of the plane of a moment that this warp has. */
static void publish_plane(const ambit__strip *w, const ambit__strip_value *s,
                          const ambit__strip_moment *m)
{
  const char *type = ambit__strip_type(w, s->param), *slot = ambit__strip_ring_slot(w, m);
  const char *from =
      m->is_first ? ambit__nest_text(w->n, "[%d]", m->plane) : ambit__strip_slot(w, m);
  part parts[2];
  const int n = parts_of(w, s, parts);

  ambit__nest_unroll(w->n, "q", 0, w->rows);
  ambit__nest_call(w->n, "ambit_publish", type, w->lane, "%s%s + q * %d, &%s%s[q][0]",
                   ambit__strip_name(w, s, 'r'), slot, ambit__strip_ring_width(w, s),
                   ambit__strip_name(w, s, 'w'), from);
  ambit__nest_close(w->n);
  for (const part *p = parts; p < parts + n; p++) {
    open_part(w, p);
    ambit__nest_call(w->n, "ambit_publish", type, w->lane, "%s%s, %s",
                     ambit__strip_name(w, s, p->place), slot, registers_of(w, s, p, m));
    close_part(w, p);
  }
}

/* Loads what is beside the block's cells in the plane of a moment. Planes past the last one repeat
 * it. */
static void load_plane(const ambit__strip *w, const ambit__strip_value *s,
                       const ambit__strip_moment *m)
{
  const char *f = ambit__strip_name(w, s, 'f');
  part parts[2];
  const int n = parts_of(w, s, parts);

  for (const part *p = parts; p < parts + n; p++) {
    open_part(w, p);
    ambit__nest_call(w->n, "ambit_load_now", ambit__strip_type(w, s->param), w->lane, "%s, %s%s",
                     registers_of(w, s, p, m), f, p->away);
    close_part(w, p);
  }
  ambit__nest_do(
      w->n, m->is_first ? "%s += %d < n - 1 ? %s_s%d : 0" : "%s += p + %d < rest - 1 ? %s_s%d : 0",
      f, m->plane, ambit__nest_param(w->n, s->param)->name, w->z);
}

void ambit__strip_centre_first(const ambit__strip *w)
{
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    ambit__strip_moment m = {.is_first = true};

    if (!s->ring) continue;
    load_plane(w, s, &m);
    publish_plane(w, s, &m);
    for (m.plane = 1; m.plane <= w->ahead; m.plane++)
      load_plane(w, s, &m);
  }
}

/* u_c: the rows of the plane that is computed, the warp's own between those of others, with the
 * cells beside the lane's. */
static void let_plane(const ambit__strip *w, const ambit__strip_value *s)
{
  const char *c = ambit__strip_name(w, s, 'c');

  let_array(w, s, 'c', s->nrows, s->left + w->lane + s->right);
  ambit__nest_unroll(w->n, "q", 0, w->rows);
  ambit__nest_unroll(w->n, "k", 0, w->lane);
  ambit__nest_do(w->n, "%s[q + %d][k + %d] = %s%s[q][k]", c, s->below, s->left,
                 ambit__strip_name(w, s, 'w'),
                 ambit__strip_slot(w, &(ambit__strip_moment){.plane = 0}));
  ambit__nest_close(w->n);
  ambit__nest_close(w->n);
}

void ambit__strip_centre_next(const ambit__strip *w)
{
  ambit__nest_barrier(w->n);
  for (const ambit__strip_value *s = w->values; s < w->values + w->nvalues; s++) {
    if (!s->ring) continue;
    publish_plane(w, s, &(ambit__strip_moment){.plane = 1});
    load_plane(w, s, &(ambit__strip_moment){.plane = 1 + w->ahead});
    let_plane(w, s);
  }
}
