/* SPDX-License-Identifier: BSD-3-Clause */
/* grids.c - grids by their extents, and spare fields on them: for new values and for terms of sums.
 *
 * A grid that no array is on any more is destroyed when the list is full, with its spare fields and
 * programs. Programs that go through many sizes, or arrays that grow from step to step, leave such
 * grids behind.
 */
enum { PORT_GRIDS = 64 };

typedef struct port_spare {
  const ambit_grid *grid;
  ambit_type type;
  unsigned axes;
  ambit_field *field;
  const port_rule *owner; /* its terms stay there until they are read; NULL: all rules share it */
} port_spare;

static ambit_grid *port_grids[PORT_GRIDS]; /* the oldest first */
static int port_ngrids;
static port_spare *port_spares;
static int port_nspares;

static void port_drop_lists(const ambit_grid *g);

static int port_has_arrays(const ambit_grid *g)
{
  for (int i = 0; i < port_nrecords; i++)
    if (port_records[i]->grid == g) return 1;
  return 0;
}

static void port_drop_grid(int which)
{
  ambit_grid *g = port_grids[which];
  int kept = 0;

  port_know_all(NULL);
  port_flush();
  for (int i = port_nprograms - 1; i >= 0; i--)
    if (port_programs[i].entries[0].grid == g) port_destroy(i);
  for (int i = 0; i < port_nspares; i++)
    if (port_spares[i].grid != g) port_spares[kept++] = port_spares[i];
  port_nspares = kept;
  port_drop_lists(g);
  ambit_grid_destroy(g); /* and its fields */
  memmove(port_grids + which, port_grids + which + 1,
          (size_t)(--port_ngrids - which) * sizeof *port_grids);
}

/* Room for one more. */
static void port_drop_old_grid(void)
{
  for (int i = 0; i < port_ngrids; i++)
    if (!port_has_arrays(port_grids[i])) {
      port_drop_grid(i);
      return;
    }
  fprintf(stderr, "ambit port: arrays have more than %d different shapes\n", PORT_GRIDS);
  exit(1);
}

static ambit_grid *port_grid(int axes, const int64_t *extents)
{
  for (int i = 0; i < port_ngrids; i++) {
    int same = ambit_grid_ndims(port_grids[i]) == axes;

    for (int d = 0; same && d < axes; d++)
      same = ambit_grid_extent(port_grids[i], d) == extents[d];
    if (same) return port_grids[i];
  }
  if (port_ngrids == PORT_GRIDS) port_drop_old_grid();
  port_grids[port_ngrids] = ambit_grid_create(port_context, axes, extents);
  port_must(port_grids[port_ngrids] != NULL);
  return port_grids[port_ngrids++];
}

/* The nth field of this type, on these axes. */
static ambit_field *port_spare_field(ambit_grid *g, ambit_type type, unsigned axes, int nth,
                                     const port_rule *owner)
{
  port_spare *list;

  for (int i = 0; i < port_nspares; i++)
    if (port_spares[i].grid == g && port_spares[i].type == type && port_spares[i].axes == axes &&
        port_spares[i].owner == owner && !nth--)
      return port_spares[i].field;
  list = realloc(port_spares, (size_t)(port_nspares + 1) * sizeof *list);
  if (!list) exit(1);
  port_spares = list;
  list[port_nspares] =
      (port_spare){g, type, axes, ambit_field_create_on(g, "new", type, axes), owner};
  port_must(list[port_nspares].field != NULL);
  return list[port_nspares++].field;
}
