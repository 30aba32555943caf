/* SPDX-License-Identifier: BSD-3-Clause */
/* orders.c - what the program asks for: the cells, arrays and numbers of the steps of a nest, and
 * the cells of each array that a step touches.
 */
typedef struct port_argument {
  port_record r; /* as the step sees it */
  int slot;
  const volatile void *object; /* the variable that it is part of; NULL: not known */
  size_t bytes;
  int owns_rows;     /* the lists of rows are its own, and not those of a record */
  port_lines *lines; /* it is there, and not at base; NULL: at base */
} port_argument;

typedef struct port_order {
  port_rule *rule;
  int axes;     /* those of the rule, or of the arrays: port_shape_cells, port_split_planes */
  int is_plane; /* one of the planes that the step goes over */
  int64_t lo[PORT_AXES], hi[PORT_AXES];
  int nargs, slot;
  port_argument args[PORT_SLOTS];
  double values[PORT_SLOTS];
} port_order;

enum { PORT_ORDERS = 64, PORT_PLANES = 32 };
static port_order port_orders[PORT_ORDERS],
    *port_now; /* the steps of a nest; the one being begun */
static int port_norders;
static const char *port_why_not;
static const volatile void
    *port_places[8]; /* that results go to: no elements of arrays of the step */
static int port_nplaces;

/* Numbers of a table, as a step has seen them. */
enum { PORT_TABLES = 63, PORT_VERSIONS = 4, PORT_TABLE_BYTES = 49152 };
typedef struct port_table_numbers {
  const port_rule *rule;
  int slot;
  ambit_type type;
  int rows, columns;
  void *values;
} port_table_numbers;
static port_table_numbers port_tables[PORT_TABLES];
static int port_ntables;

static ambit_arg port_arg_table(int which)
{
  const port_table_numbers *t = &port_tables[which];

  return ambit_arg_table(t->values, t->type, t->rows, t->columns);
}

static int port_takes_array(port_kind k)
{
  return k == PORT_READ || k == PORT_WRITE || k == PORT_UPDATE;
}

PORT_API void port_begin(port_rule *rule)
{
  port_open(NULL, NULL);
  port_now = &port_orders[port_norders < PORT_ORDERS ? port_norders++ : PORT_ORDERS - 1];
  memset(port_now, 0, offsetof(port_order, args)); /* arguments: when they are added */
  memset(port_now->values, 0, sizeof port_now->values);
  port_now->rule = rule;
  port_now->axes = rule->axes;
}

PORT_API void port_cells(int axis, int64_t lo, int64_t hi)
{
  port_now->lo[axis] = lo;
  port_now->hi[axis] = hi > lo ? hi : lo;
}

PORT_API void port_require(int holds, const char *what)
{
  if (!holds && !port_why_not) port_why_not = what;
}

PORT_API void port_apart(const volatile void *p)
{
  if (port_nplaces < 8)
    port_places[port_nplaces++] = p;
  else
    port_require(0, "it has too many results");
}

/* The next slot that takes an argument. */
static int port_next_slot(void)
{
  const port_rule *rule = port_now->rule;

  while (port_now->slot < rule->nslots && !port_takes_array(rule->slots[port_now->slot].kind) &&
         rule->slots[port_now->slot].kind != PORT_VALUE &&
         rule->slots[port_now->slot].kind != PORT_TABLE)
    port_now->slot++;
  return port_now->slot++;
}

PORT_API void port_value(double x)
{
  port_now->values[port_next_slot()] = x;
}

static port_lines *port_next_lines; /* of the next array */

PORT_API const void *port_line(port_lines *l)
{
  port_next_lines = l;
  return l->p;
}

/* Room for all lines that the steps of the nest touch: what was there is of no use to it. */
static void port_place_lines(void)
{
  for (int o = 0; o < port_norders; o++)
    for (int i = 0; i < port_orders[o].nargs; i++) {
      const port_order *order = &port_orders[o];
      port_lines *l = order->args[i].lines;
      const port_slot *slot = &order->rule->slots[order->args[i].slot];
      int64_t n = 1;
      int grows = 0;

      for (int d = 0; l && d < order->axes; d++) {
        const int64_t hi = order->hi[d] > order->lo[d] ? order->hi[d] + slot->high[d] : 0;

        grows |= hi > l->extent[d];
        if (hi > l->extent[d]) l->extent[d] = hi;
        n *= l->extent[d];
      }
      if (!grows) continue;
      if (l->p) port_free(l->p);
      l->p = port_calloc((size_t)n, ambit_type_size(slot->type));
      if (!l->p) exit(1);
    }
  for (int o = 0; o < port_norders; o++)
    for (int i = 0; i < port_orders[o].nargs; i++) {
      port_argument *a = &port_orders[o].args[i];
      int64_t step = (int64_t)ambit_type_size(a->r.type);

      for (int d = a->r.axes - 1; a->lines && d >= 0; d--) {
        a->r.stride[d] = step;
        a->r.extent[d] = a->lines->extent[d];
        step *= a->lines->extent[d];
      }
      if (a->lines) a->r.base = a->lines->p;
    }
}

PORT_API void port_array(const volatile void *base, const int64_t *extents, const int64_t *strides,
                         const volatile void *object, size_t bytes)
{
  const int slot = port_next_slot(), axes = port_now->axes;
  port_argument *a = &port_now->args[port_now->nargs++];

  memset(a, 0, sizeof *a);
  a->slot = slot;
  a->lines = port_next_lines;
  port_next_lines = NULL;
  a->object = object;
  a->bytes = bytes;
  a->r.base = (char *)(uintptr_t)base;
  a->r.type = port_now->rule->slots[slot].type;
  a->r.axes = axes;
  for (int d = 0; d < axes; d++) {
    a->r.stride[d] = strides[d];
    a->r.extent[d] = extents[d];
  }
}

/* Rows behind pointers: one level of a table of pointers for each of the first axes. */
static void port_row_list(const port_record *r, const void *table, int axis, int64_t row)
{
  for (int64_t i = r->lo[axis]; i < r->hi[axis]; i++) {
    char *p = (char *)(uintptr_t)((void *const *)table)[i];

    if (axis + 1 == r->levels)
      r->rows[row * r->extent[axis] + i] = p ? p + r->offset : NULL;
    else
      port_row_list(r, p, axis + 1, row * r->extent[axis] + i);
  }
}

PORT_API void port_rows(const void *table, int levels, int64_t offset, const int64_t *extents,
                        const int64_t *strides)
{
  port_argument *a;

  port_array(NULL, extents, strides, NULL, 0);
  a = &port_now->args[port_now->nargs - 1];
  a->r.table = table;
  a->r.levels = levels;
  a->r.offset = offset;
  a->r.nrows = 1;
  for (int d = 0; d < levels; d++)
    a->r.stride[d] = 0;
}

/* ---- tables that cells look numbers up in ---- */

/* The numbers, and room for them in to. */
static void port_gather_table(const port_table_numbers *t, const char *from, int64_t row_size,
                              int64_t size, char *to)
{
  const size_t bytes = ambit_type_size(t->type);

  for (int r = 0; r < t->rows; r++)
    for (int c = 0; c < t->columns; c++, to += bytes)
      memcpy(to, from + r * row_size + c * size, bytes);
}

/* Code is generated for the numbers: a table that changes all the time is left to the host. columns
 * 0: as many as its memory has, number `which` of the kernel. */
PORT_API void port_table(const volatile void *base, int which, int64_t rows, int64_t row_size,
                         int64_t columns, int64_t size)
{
  const int slot = port_next_slot();
  const char *from = (const char *)(uintptr_t)base, *last;
  port_rule *rule = port_now->rule;
  port_table_numbers t = {.rule = rule, .slot = slot, .type = rule->slots[slot].type};
  const port_object *o = columns ? NULL : port_object_at(from);
  size_t bytes;
  int versions = 0;

  if (!columns) {
    columns = o ? (o->p + o->bytes - from) / size : 0;
    port_require(columns > 0, "the length of a table is not known");
    port_require(!rule->kernel || rule->distance[which] == columns,
                 "the length of a table has changed");
    if (columns <= PORT_TABLE_BYTES) rule->distance[which] = (int)columns;
  }
  bytes = (size_t)(rows * columns) * ambit_type_size(t.type);
  port_require(bytes <= PORT_TABLE_BYTES, "a table has more than 48 KiB");
  if (port_why_not) return;
  t.rows = (int)rows;
  t.columns = (int)columns;
  last = from + (rows - 1) * row_size + (columns - 1) * size + ambit_type_size(t.type) - 1;
  port_reads(from, (size_t)(last + 1 - from));
  port_apart(from);
  port_apart(last);
  t.values = malloc(bytes);
  if (!t.values) exit(1);
  port_gather_table(&t, from, row_size, size, t.values);
  for (int i = 0; i < port_ntables; i++) {
    const port_table_numbers *k = &port_tables[i];

    if (k->rule != rule || k->slot != slot) continue;
    versions++;
    if (memcmp(k->values, t.values, bytes)) continue;
    port_now->values[slot] = i;
    free(t.values);
    return;
  }
  port_require(versions < PORT_VERSIONS && port_ntables < PORT_TABLES,
               "the numbers of a table change all the time");
  if (port_why_not) {
    free(t.values);
    return;
  }
  port_now->values[slot] = port_ntables;
  port_tables[port_ntables++] = t;
}

/* ---- tables of neighbours ---- */

static int64_t port_entry_of(const void *table, size_t bytes, int64_t i)
{
  return bytes == 4 ? ((const int32_t *)table)[i] : ((const int64_t *)table)[i];
}

/* north[i] is i - 1, and at the edge 0 (clamp) or n - 1 (periodic): the distance and the kind are
 * found here, and every entry is checked each time. */
PORT_API void port_neighbours(int which, int axis, const void *table, size_t bytes, int64_t n)
{
  port_rule *rule = port_now->rule;
  port_slot *slot = &rule->slots[port_now->args[port_now->nargs - 1].slot];
  const unsigned bit = 1u << axis;
  int64_t by;
  int clamp = 1, periodic = 1;

  if (n <= 0) return;
  port_reads(table, 1);
  by = port_entry_of(table, bytes, n / 2) - n / 2;
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = i + by, entry = port_entry_of(table, bytes, i);

    clamp &= entry == (at < 0 ? 0 : at >= n ? n - 1 : at);
    periodic &= entry == (at < 0 ? at + n : at >= n ? at - n : at);
  }
  port_require(clamp || periodic,
               "a table of neighbours goes elsewhere than to the next cell, round the edge or not");
  port_require(!rule->kernel || rule->distance[which] == by, "a table of neighbours has changed");
  rule->distance[which] = (int)by;
  if (clamp && !(periodic && slot->periodic & bit))
    slot->clamp |= bit;
  else
    slot->periodic |= bit;
  port_require(!(slot->clamp & slot->periodic & bit),
               "tables of neighbours go round an edge and stop at it");
}

/* The text of a rule with the distances in it. */
static ambit_kernel *port_kernel(const port_rule *rule)
{
  char *text = malloc(strlen(rule->text) + 256), *to = text;
  ambit_kernel *k;

  if (!text) exit(1);
  for (const char *c = rule->text; *c;)
    if (!strncmp(c, "PORT_", 5)) {
      to += sprintf(to, "%d", rule->distance[c[5] - '0']);
      c += 6;
    } else
      *to++ = *c++;
  *to = 0;
  k = ambit_kernel_create(port_context, text);
  free(text);
  return k;
}

/* ---- extents ---- */

static const char *port_outside(const port_argument *a, int axis, int64_t index, const char *where)
{
  static char text[160];
  const char *name = port_now->rule->slots[a->slot].name;

  snprintf(text, sizeof text, "it uses index %lld along axis %d of '%.40s', %s", (long long)index,
           axis, name ? name : "an array", where);
  return text;
}

/* The cells that the step touches; why not: outside of the array. */
static const char *port_bounds(port_argument *a)
{
  const port_slot *slot = &port_now->rule->slots[a->slot];
  port_record *r = &a->r;
  char end[64];

  for (int d = 0; d < r->axes; d++) {
    const int free_axis = (slot->periodic | slot->clamp) >> d & 1;

    r->lo[d] = port_now->lo[d] + slot->low[d];
    r->hi[d] = port_now->hi[d] + slot->high[d];
    if (!r->stride[d] && d >= r->levels) {
      r->lo[d] = port_now->lo[d] < 0 ? 0 : port_now->lo[d];
      r->hi[d] = port_now->hi[d];
    }
    if (r->lo[d] < 0) return port_outside(a, d, r->lo[d], "which is before its first element");
    if ((free_axis || r->extent[d]) && r->hi[d] > r->extent[d]) {
      snprintf(end, sizeof end, "which has %lld elements there", (long long)r->extent[d]);
      return port_outside(a, d, r->hi[d] - 1, end);
    }
    if (free_axis) {
      r->lo[d] = 0;
      r->hi[d] = r->extent[d];
    }
  }
  return NULL;
}

/* Arrays behind pointers to one of their inner cells, u[-1]: the cells of the step are counted from
 * the start of the memory instead, if that is the same for all of its arrays. Kernels that use
 * index() and boundaries stay as they are. */
static void port_move_cells(void)
{
  const port_rule *rule = port_now->rule;
  int64_t by[PORT_AXES] = {0};
  int moves = 0;

  for (int i = 0; i < port_now->nargs; i++) {
    const port_argument *a = &port_now->args[i];
    const port_slot *slot = &rule->slots[a->slot];
    const port_object *o = a->r.nrows ? NULL : port_object_at(a->r.base);
    int64_t rest = o ? a->r.base - o->p : 0;

    if (slot->periodic | slot->clamp) return;
    for (int d = 0; d < port_now->axes; d++) {
      const int64_t low = -(port_now->lo[d] + slot->low[d]), step = a->r.stride[d];

      if (low > 0 && (a->r.nrows || !step)) return;
      moves |= low > 0;
      if (low > by[d]) by[d] = low;
      if (step > 0 && rest / step > by[d]) by[d] = rest / step;
      if (step > 0) rest %= step;
    }
  }
  if (!moves || (rule->text && strstr(rule->text, "index("))) return;
  for (int d = 0; d < port_now->axes; d++) {
    port_now->lo[d] += by[d];
    port_now->hi[d] += by[d];
    for (int i = 0; i < port_now->nargs; i++)
      port_now->args[i].r.base -= by[d] * port_now->args[i].r.stride[d];
  }
}

/* The array at this address as earlier steps saw it, if it has several axes without gaps between
 * rows. */
static const port_record *port_shape_of(const port_record *a)
{
  const port_record *found = NULL;

  for (int i = 0; i < port_nrecords; i++) {
    const port_record *r = port_records[i];
    int64_t step = (int64_t)ambit_type_size(r->type);
    int is_dense = r->axes > 1 && !r->nrows && r->base == a->base && r->type == a->type;

    for (int d = r->axes - 1; d >= 0 && is_dense; d--) {
      is_dense = r->stride[d] == step && (!d || r->extent[d] > 0);
      step *= d ? r->extent[d] : 1;
    }
    if (is_dense && (!found || r->dev_ok)) found = r;
  }
  return found;
}

/* One loop over all cells of arrays that have several axes in other steps: for (p = 0; p < nx * ny;
 * p++) u[p] *= f. They keep their grid, if each cell is computed by itself, and the loop goes over
 * whole rows. */
static void port_shape_cells(void)
{
  const port_rule *rule = port_now->rule;
  const port_record *shape = NULL;
  int64_t row = 1;

  if (rule->axes != 1 || rule->sweep || (rule->text && strstr(rule->text, "index("))) return;
  for (int i = 0; i < port_now->nargs; i++) {
    const port_argument *a = &port_now->args[i];
    const port_slot *slot = &rule->slots[a->slot];

    if (slot->low[0] || slot->high[0] || slot->periodic || slot->clamp || a->r.nrows ||
        a->r.stride[0] != (int64_t)ambit_type_size(a->r.type) ||
        (a->r.extent[0] && a->r.extent[0] < port_now->hi[0]))
      return;
    if (!shape) shape = port_shape_of(&a->r);
  }
  for (int d = 1; shape && d < shape->axes; d++)
    row *= shape->extent[d];
  if (!shape || port_now->lo[0] % row || port_now->hi[0] % row) return;
  port_now->axes = shape->axes;
  port_now->lo[0] /= row;
  port_now->hi[0] /= row;
  for (int d = 1; d < shape->axes; d++)
    port_cells(d, 0, shape->extent[d]);
  for (int i = 0; i < port_now->nargs; i++) {
    port_record *r = &port_now->args[i].r;

    r->axes = shape->axes;
    memcpy(r->extent, shape->extent, sizeof r->extent);
    if (r->extent[0] < port_now->hi[0]) r->extent[0] = 0;
    r->stride[r->axes - 1] = (int64_t)ambit_type_size(r->type);
    for (int d = r->axes - 2; d >= 0; d--)
      r->stride[d] = r->stride[d + 1] * r->extent[d + 1];
  }
}

/* Whether planes of an array are arrays of their own, on the device, in other steps. */
static int port_has_planes(const port_record *a)
{
  for (int i = 0; i < port_nrecords; i++) {
    const port_record *r = port_records[i];
    const int64_t at = r->base - a->base;

    if (a->stride[0] && r->dev_ok && !r->nrows && r->axes == a->axes - 1 && r->type == a->type &&
        at >= 0 && at % a->stride[0] == 0 && at / a->stride[0] < port_now->hi[0] &&
        !memcmp(r->stride, a->stride + 1, (size_t)r->axes * sizeof *r->stride))
      return 1;
  }
  return 0;
}

/* for (q ...) u[q][j][i] += dt * r[q][j][i], where other nests name the planes r[0] and r[1]: a
 * step for each plane, if cells are computed by themselves. Else planes would move to the host and
 * back between these nests. */
static void port_split_planes(void)
{
  static port_order all;
  const port_order *o = port_now = port_orders;
  const port_rule *rule = o->rule;
  int found = 0;

  if (port_norders != 1 || o->axes < 2 || rule->sweep || o->hi[0] - o->lo[0] > PORT_PLANES ||
      (rule->text && strstr(rule->text, "index(")))
    return;
  for (int s = 0; s < rule->nslots; s++)
    if (rule->slots[s].kind > PORT_VALUE && rule->slots[s].kind != PORT_TABLE) return;
  for (int i = 0; i < o->nargs; i++) {
    const port_slot *slot = &rule->slots[o->args[i].slot];
    const port_record *r = &o->args[i].r;
    int varies = 0; /* within a plane */

    if (r->nrows || r->stride[0] < 0 || slot->periodic || slot->clamp) return;
    for (int d = 0; d < o->axes; d++) {
      if (slot->low[d] || slot->high[d]) return;
      varies |= d && r->stride[d];
    }
    if (!varies) return;
    found |= port_has_planes(r);
  }
  if (!found) return;
  all = *o;
  port_norders = 0;
  for (int64_t at = all.lo[0]; at < all.hi[0]; at++) {
    port_order *plane = &port_orders[port_norders++];

    *plane = all;
    plane->is_plane = 1;
    plane->axes--;
    memmove(plane->lo, plane->lo + 1, sizeof plane->lo - sizeof *plane->lo);
    memmove(plane->hi, plane->hi + 1, sizeof plane->hi - sizeof *plane->hi);
    for (int i = 0; i < plane->nargs; i++) {
      port_record *r = &plane->args[i].r;

      r->axes--;
      r->base += at * r->stride[0];
      memmove(r->stride, r->stride + 1, sizeof r->stride - sizeof *r->stride);
      memmove(r->extent, r->extent + 1, sizeof r->extent - sizeof *r->extent);
    }
  }
}

/* Memory of known extent bounds the open axis. */
static int port_inside(port_argument *a)
{
  const port_object *o;
  char *lo, *hi;

  if (a->object) port_object_add(a->object, a->bytes);
  if (a->r.nrows || !(o = port_object_at(a->r.base))) return 1;
  port_span(&a->r, &lo, &hi);
  return hi <= o->p + o->bytes;
}

/* The elements of rows behind pointers: to the next row, or to the end of their memory. */
static int64_t port_row_extent(const port_record *r, int d)
{
  const port_object *o = r->nsorted ? port_object_at(r->sorted[0]) : NULL;
  int64_t bytes = o ? o->p + o->bytes - r->sorted[0] : 0;

  for (int64_t i = 1; i < r->nsorted; i++)
    if (r->sorted[i] - r->sorted[i - 1] < bytes) bytes = r->sorted[i] - r->sorted[i - 1];
  return d + 1 == r->axes && d == r->levels && r->stride[d] ? bytes / r->stride[d] : 0;
}

/* How far the open axis of an array may go: a grid that is large enough from the start. */
static int64_t port_open_extent(const port_argument *a, int d)
{
  const port_object *o = a->r.nrows ? NULL : port_object_at(a->r.base);
  int64_t n;

  if (a->r.extent[d]) return a->r.extent[d];
  if (!a->r.stride[d] || (!o && !a->r.nrows)) return a->r.hi[d];
  n = o ? (o->p + o->bytes - a->r.base) / a->r.stride[d] : port_row_extent(&a->r, d);
  return n > a->r.hi[d] && n < 2 * a->r.hi[d] + 64 ? n : a->r.hi[d];
}

static int port_same_array(const port_record *a, const port_record *b)
{
  if (a->type != b->type || a->axes != b->axes || a->base != b->base || a->table != b->table ||
      a->levels != b->levels || a->offset != b->offset)
    return 0;
  for (int d = 0; d < a->axes; d++)
    if (a->stride[d] != b->stride[d]) return 0;
  return 1;
}

/* The cells that a grid for this array must have along an axis: what steps touch. An array that is
 * new may get all of its memory, so that it need not move when a step touches more. */
static int64_t port_needs(const port_argument *a, int d, int exact)
{
  int64_t n = exact ? a->r.hi[d] : port_open_extent(a, d);

  for (int i = 0; i < port_nrecords; i++) {
    const port_record *r = port_records[i];

    if (!port_same_array(r, &a->r) || r->is_old) continue;
    if (r->grid || r->hi[d] > n) n = r->hi[d] > a->r.hi[d] ? r->hi[d] : a->r.hi[d];
  }
  return n;
}
