/* SPDX-License-Identifier: BSD-3-Clause */
/* arrays.c - the arrays of the program, and their fields.
 *
 * A record describes an array as a step sees it: base address, stride in bytes along each axis, and
 * the box of cells that steps have touched so far (only these are ever copied). host_ok and dev_ok
 * say where its values are good; one of them always is. Records may share memory: of those, one at
 * most has values that the host has not.
 */
typedef struct port_record {
  char *base;
  ambit_type type;
  int axes;
  int64_t stride[PORT_AXES];            /* bytes; 0: the array does not vary along this axis */
  int64_t extent[PORT_AXES];            /* as declared; 0: open */
  int64_t lo[PORT_AXES], hi[PORT_AXES]; /* touched by steps */
  char **rows;                          /* rows that are memory of their own: a pointer each */
  int64_t nrows;                        /* how many; 0: base and strides say it all */
  char **sorted;                        /* those that steps have touched, by address */
  int64_t nsorted;                      /* how many */
  int levels;                           /* axes that are tables of pointers; 0: none */
  const void *table;                    /* the program's own table of them */
  int64_t offset;                       /* bytes from the start of a row to its first element */
  ambit_grid *grid;
  ambit_field *field;
  int host_ok, dev_ok;
  int pending;                 /* queued steps read it: 1, write it: 2 */
  int moves;                   /* of single elements, since a step wrote it */
  int puts;                    /* ... to the device, since a step used it */
  struct port_record *copy_of; /* its values in the box of `copy` are still to be copied from there:
                                * copies.c; NULL: it has its own */
  int64_t copy_lo[PORT_AXES], copy_hi[PORT_AXES];
  port_rule *copy_rule; /* of the step that was to copy them */
  int waits;            /* it is copied to the device before the queue runs ... */
  int64_t skip_lo[PORT_AXES], skip_hi[PORT_AXES]; /* ... but the cells that the queue sets first */
  int is_old;               /* other code ran since: its memory may be gone, its box is not known */
  unsigned periodic, clamp; /* axes, as declared to the field */
} port_record;

enum { PORT_RECORDS = 256, PORT_MOVES = 16 }; /* more single elements than these: all of it */

typedef struct port_object {
  char *p;
  size_t bytes;
} port_object;

typedef struct port_list {
  port_object *at;
  int n, room;
} port_list;

static ambit *port_context;
static int port_nrecords;
static port_record *port_records[PORT_RECORDS]; /* the oldest first */
static port_list port_heap;                     /* memory that was allocated, by address */
static port_list port_named;                    /* variables and members, the oldest first */

static void port_flush(void);
static void port_make_copy(port_record *r);
static void port_part(port_record *r);
static void port_drop_programs(const ambit_field *f);
static void port_do_statements(void);
static void port_expect(const char *lo, const char *hi);
static void port_cancel(const void *variable);

static void port_close(void)
{
  ambit *a = port_context;

  if (!a) return;
  if (!ambit_error(a)) port_flush();
  port_context = NULL;
  if (ambit_close(a)) {
    fflush(NULL);
    _Exit(1);
  }
}

/* The device is in use by now. Its driver may have asked to be closed at exit, too, and what was
 * asked for last is done first. */
static void port_close_before_drivers(void)
{
  static int done;

  if (!done++) atexit(port_close);
}

/* Ambit's own words are on standard error already. */
static void port_must(int ok)
{
  if (ok) return;
  fprintf(stderr, "ambit port: the program cannot go on\n");
  exit(1);
}

PORT_API int port_first(void)
{
  return !port_context || ambit_process(port_context) == 0;
}

#if defined(PORT_CPU_SHARE)
/* The weights of the parts: the cpu's share for all parts on it, the rest for those on other
 * devices; cpu*2 is two. */
static void port_weigh(void)
{
  const char *devices = ambit_option_get(port_context, "devices");
  char text[4096];
  int parts[2] = {0, 0}; /* on others, on the cpu */
  size_t at = 0;

  if (!devices || ambit_option_get(port_context, "weights")[0]) return;
  for (int round = 0; round < 1 + ambit_processes(port_context); round++)
    for (const char *d = devices; d; d = strchr(d, ',') ? strchr(d, ',') + 1 : NULL) {
      const int on_cpu = !strncmp(d, "cpu", 3), n = (int)strcspn(d, ",");
      const char *times = memchr(d, '*', (size_t)n);

      if (!round) parts[on_cpu] += times ? atoi(times + 1) : 1;
      for (int i = 0; round && parts[0] && parts[1] && i < (times ? atoi(times + 1) : 1); i++)
        if (at < sizeof text - 32)
          at += (size_t)sprintf(text + at, "%s%.9g", at ? "," : "",
                                (on_cpu ? PORT_CPU_SHARE : 1 - PORT_CPU_SHARE) / parts[on_cpu]);
    }
  if (at)
    ambit_option_set(port_context, "weights", text);
  else
    fprintf(stderr, "ambit port: a share of the cpu needs a second device: devices=cuda,cpu\n");
}
#else
static void port_weigh(void)
{
}
#endif

/* Of several processes, one prints. */
PORT_API void port_open(int *argc, char ***argv)
{
  if (port_context) return;
  port_context = ambit_open(argc, argv);
  port_must(port_context && !ambit_error(port_context));
  atexit(port_close);
  if (!port_first() && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
    exit(1);
  port_weigh();
}

PORT_API FILE *port_fopen(const char *path, const char *mode)
{
  return fopen(port_first() || !strpbrk(mode, "wa+") ? path : "/dev/null", mode);
}

/* ---- objects: memory whose extent is known ---- */

/* How many pieces of allocated memory begin at p or before it. */
static int port_heap_before(const volatile void *p)
{
  int lo = 0, hi = port_heap.n;

  while (lo < hi) {
    const int middle = lo + (hi - lo) / 2;

    if ((const volatile char *)port_heap.at[middle].p <= (const volatile char *)p)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

static int port_is_in(const port_object *o, const volatile void *p)
{
  return (const volatile char *)p >= o->p && (const volatile char *)p < o->p + o->bytes;
}

/* The allocation that it lies in; NULL: none. */
static const port_object *port_allocated_at(const volatile void *p)
{
  const int i = port_heap_before(p);

  return i && port_is_in(&port_heap.at[i - 1], p) ? &port_heap.at[i - 1] : NULL;
}

static const port_object *port_object_at(const volatile void *p)
{
  for (int k = port_named.n - 1; k >= 0; k--)
    if (port_is_in(&port_named.at[k], p)) return &port_named.at[k];
  return port_allocated_at(p);
}

static void port_insert(port_list *l, int at, port_object o)
{
  if (l->n == l->room) {
    l->room = l->room ? 2 * l->room : 64;
    l->at = realloc(l->at, (size_t)l->room * sizeof *l->at);
    if (!l->at) exit(1);
  }
  memmove(l->at + at + 1, l->at + at, (size_t)(l->n++ - at) * sizeof *l->at);
  l->at[at] = o;
}

static void port_erase(port_list *l, int at)
{
  memmove(l->at + at, l->at + at + 1, (size_t)(--l->n - at) * sizeof *l->at);
}

static void port_object_add(const volatile void *p, size_t bytes)
{
  const port_object *o = p ? port_object_at(p) : NULL;

  if (!p || !bytes || (o && o->p == (const volatile char *)p && o->bytes == bytes)) return;
  port_insert(&port_named, port_named.n, (port_object){(char *)(uintptr_t)p, bytes});
}

/* Memory that was allocated; older pieces in the same place were freed elsewhere. */
static void port_heap_add(void *p, size_t bytes)
{
  int i = p ? port_heap_before(p) : 0;

  if (!p || !bytes) return;
  if (i && port_is_in(&port_heap.at[i - 1], p)) port_erase(&port_heap, --i);
  while (i < port_heap.n && port_heap.at[i].p < (char *)p + bytes)
    port_erase(&port_heap, i);
  port_insert(&port_heap, i, (port_object){p, bytes});
}

PORT_API void *port_malloc(size_t bytes)
{
  void *p = malloc(bytes);

  port_heap_add(p, bytes);
  return p;
}

PORT_API void *port_calloc(size_t n, size_t bytes)
{
  void *p = calloc(n, bytes);

  port_heap_add(p, n * bytes);
  return p;
}

PORT_API void *port_aligned_alloc(size_t align, size_t bytes)
{
  void *p = aligned_alloc(align, bytes);

  port_heap_add(p, bytes);
  return p;
}

PORT_API int port_posix_memalign(void **p, size_t align, size_t bytes)
{
  void *q = aligned_alloc(align, (bytes + align - 1) / align * align);

  port_heap_add(q, bytes);
  *p = q;
  return q ? 0 : 12;
}

PORT_API void *port_realloc(void *p, size_t bytes)
{
  if (p) {
    const port_object *o = port_object_at(p);

    port_writes(p, o ? o->bytes : 1);
    port_forget(p, o ? o->bytes : 1);
  }
  p = realloc(p, bytes);
  port_heap_add(p, bytes);
  return p;
}

PORT_API void port_free(void *p)
{
  const port_object *o = p ? port_object_at(p) : NULL;

  if (p) port_forget(p, o ? o->bytes : 1);
  free(p);
}

PORT_API void port_has_length(const volatile void *p, size_t bytes)
{
  port_object_add(p, bytes);
}

PORT_API void port_leave_scope(void *guard)
{
  const port_guard *g = guard;

  port_forget(g->p, g->bytes);
}

/* ---- records ---- */

/* The bytes that a record covers, from its cell 0 on. */
static void port_span(const port_record *r, char **lo, char **hi)
{
  char *a = r->base, *b = r->base + ambit_type_size(r->type);

  for (int d = 0; d < r->axes; d++)
    if (r->hi[d] > 0) b += (r->hi[d] - 1) * r->stride[d];
  *lo = a;
  *hi = b;
}

/* The bytes of one row, as far as steps have touched it. */
static int64_t port_row_bytes(const port_record *r)
{
  int64_t bytes = (int64_t)ambit_type_size(r->type);

  for (int d = r->levels; d < r->axes; d++)
    if (r->hi[d] > 0) bytes += (r->hi[d] - 1) * r->stride[d];
  return bytes;
}

/* Whether a record shares memory with the bytes lo <= p < hi. */
static int port_meets(const port_record *r, const char *lo, const char *hi)
{
  char *a, *b;

  if (r->nrows) {
    const int64_t bytes = port_row_bytes(r);
    int64_t first = 0, end = r->nsorted;

    while (first < end) { /* the first row that ends behind lo */
      const int64_t middle = first + (end - first) / 2;

      if (r->sorted[middle] + bytes > lo)
        end = middle;
      else
        first = middle + 1;
    }
    return (first < r->nsorted && r->sorted[first] < hi) ||
           ((const char *)r->table >= lo && (const char *)r->table < hi);
  }
  port_span(r, &a, &b);
  return a < hi && b > lo;
}

/* Members of one struct lie between each other and share nothing. */
static int port_interleaved(const port_record *a, const port_record *b, const char *at_a,
                            const char *at_b)
{
  int64_t step = a->stride[a->axes - 1], gap;

  if (a->axes != b->axes || a->levels != b->levels || step <= 0) return 0;
  for (int d = a->levels; d < a->axes; d++)
    if (a->stride[d] != b->stride[d] || a->stride[d] % step) return 0;
  gap = (at_b - at_a) % step;
  if (gap < 0) gap += step;
  return gap >= (int64_t)ambit_type_size(a->type) &&
         gap + (int64_t)ambit_type_size(b->type) <= step;
}

/* Rows of two arrays, both by address: those that begin first go first. */
static int port_share_rows(const port_record *a, const port_record *b)
{
  const int64_t bytes_a = port_row_bytes(a), bytes_b = port_row_bytes(b);

  for (int64_t i = 0, k = 0; i < a->nsorted && k < b->nsorted;) {
    char *x = a->sorted[i], *y = b->sorted[k];

    if (x < y + bytes_b && y < x + bytes_a && !port_interleaved(a, b, x, y)) return 1;
    if (x + bytes_a < y + bytes_b)
      i++;
    else
      k++;
  }
  return 0;
}

static int port_share(const port_record *a, const port_record *b)
{
  const port_record *rows = a->nrows ? a : b, *other = a->nrows ? b : a;
  char *lo, *hi;

  if (a->nrows && b->nrows) return port_share_rows(a, b);
  port_span(other, &lo, &hi);
  return port_meets(rows, lo, hi) && !port_interleaved(a, b, a->base, b->base);
}

static size_t port_cells_of(const port_record *r)
{
  size_t n = 1;

  for (int d = 0; d < r->axes; d++)
    n *= (size_t)(r->hi[d] - r->lo[d]);
  return n;
}

/* How many cells of a box. */
static double port_volume(const int64_t *lo, const int64_t *hi, int axes)
{
  double n = 1;

  for (int d = 0; d < axes; d++)
    n *= (double)(hi[d] - lo[d]);
  return n;
}

static int port_is_dense(const port_record *r)
{
  int64_t step = (int64_t)ambit_type_size(r->type);

  if (r->nrows) return 0;
  for (int d = r->axes - 1; d >= 0; d--) {
    if (r->stride[d] != step) return 0;
    step *= r->hi[d] - r->lo[d];
  }
  return 1;
}

/* Copies the touched box between the array and a dense one. */
static void port_pack(const port_record *r, char *dense, int to_array)
{
  const size_t size = ambit_type_size(r->type);
  const int last = r->axes - 1;
  const int64_t n = r->hi[last] - r->lo[last];
  int64_t at[PORT_AXES];

  memcpy(at, r->lo, sizeof at);
  for (;;) {
    char *p = r->base;
    int64_t row = 0;
    int d;

    for (d = 0; d < r->levels; d++)
      row = row * r->extent[d] + at[d];
    if (r->nrows) p = r->rows[row];
    for (d = r->levels; d < r->axes; d++)
      p += at[d] * r->stride[d];
    if (r->stride[last] == (int64_t)size) {
      memcpy(to_array ? p : dense, to_array ? dense : p, (size_t)n * size);
      dense += (size_t)n * size;
    } else
      for (int64_t i = 0; i < n; i++, dense += size, p += r->stride[last])
        memcpy(to_array ? p : dense, to_array ? dense : p, size);
    for (d = last - 1; d >= 0 && ++at[d] == r->hi[d]; d--)
      at[d] = r->lo[d];
    if (d < 0) return;
  }
}

static void port_copy(port_record *r, int to_host)
{
  const size_t bytes = port_cells_of(r) * ambit_type_size(r->type);
  char *first = r->base, *dense;
  ambit_status s;

  if (!bytes) return;
  for (int d = 0; d < r->axes; d++)
    first += r->lo[d] * r->stride[d];
  dense = port_is_dense(r) ? first : malloc(bytes);
  if (!dense) {
    fprintf(stderr, "ambit port: not enough memory for %zu bytes\n", bytes);
    exit(1);
  }
  if (dense != first && !to_host) port_pack(r, dense, 0);
  s = to_host ? ambit_field_read(r->field, r->lo, r->hi, dense)
              : ambit_field_write(r->field, r->lo, r->hi, dense);
  port_must(s == AMBIT_OK);
  if (dense != first && to_host) port_pack(r, dense, 1);
  if (dense != first) free(dense);
}

/* To the device: all cells but those that the queue sets before it reads them. */
static void port_bring_array(port_record *r)
{
  const port_record all = *r;

  r->waits = 0;
  for (int d = 0; d < r->axes; d++) {
    const int64_t from = r->skip_lo[d], to = r->skip_hi[d];

    if (to <= from) break;
    for (int side = 0; side < 2; side++) { /* the cells before, and those behind */
      r->lo[d] = side ? to : all.lo[d];
      r->hi[d] = side ? all.hi[d] : from;
      if (r->hi[d] > r->lo[d]) port_copy(r, 0);
    }
    r->lo[d] = from;
    r->hi[d] = to;
  }
  if (r->skip_hi[0] <= r->skip_lo[0]) port_copy(r, 0);
  memcpy(r->lo, all.lo, sizeof r->lo);
  memcpy(r->hi, all.hi, sizeof r->hi);
}

static void port_to_host(port_record *r)
{
  if (!r->host_ok) port_make_copy(r);
  if (r->pending) port_flush();
  if (!r->host_ok) port_copy(r, 1);
  r->host_ok = 1;
}

static void port_remove(int i)
{
  port_record *r = port_records[i];

  r->copy_of = NULL;
  port_part(r);
  if (r->pending) port_flush();
  if (r->field) {
    port_drop_programs(r->field);
    ambit_field_destroy(r->field);
  }
  free(r->rows);
  free(r->sorted);
  free(r);
  memmove(port_records + i, port_records + i + 1,
          (size_t)(--port_nrecords - i) * sizeof *port_records);
}

/* ---- host code ---- */

/* Memory that the program did not get from the calls above: it may be part of a larger piece. */
static int port_is_foreign(const port_record *r)
{
  return !port_object_at(r->nrows ? r->table : (const void *)r->base);
}

/* Host code reads or writes the array. */
static void port_fetch(port_record *r, int write)
{
  if (write) port_part(r);
  if (write ? r->pending : r->pending == 2) port_flush();
  if (!r->host_ok) port_to_host(r);
  if (write) r->dev_ok = 0;
}

/* A pointer alone (1 byte) stands for the whole object it points into; where that is not known, for
 * all memory of unknown extent. */
/* bytes 1: an object of any size begins here, or goes on; 0: a struct, whose first array may do so,
 * too. */
static void port_touch(const volatile void *p, size_t bytes, int write)
{
  const port_object *o = !bytes ? port_allocated_at(p) : bytes == 1 ? port_object_at(p) : NULL;
  const char *lo = (const char *)(uintptr_t)p, *hi = lo + bytes;
  const int unknown = bytes <= 1 && !o;
  int found = !unknown;

  if (!p || !port_nrecords) return;
  if (o) {
    lo = o->p;
    hi = o->p + o->bytes;
  }
  if (unknown)
    port_do_statements();
  else
    port_expect(lo, hi);
  for (int i = 0; i < port_nrecords && !found && bytes; i++)
    found = port_meets(port_records[i], lo, hi);
  for (int i = 0; i < port_nrecords; i++) {
    port_record *r = port_records[i];

    if (unknown && !bytes && port_allocated_at(r->nrows ? r->table : (const void *)r->base))
      continue;
    if (found && !port_meets(r, lo, hi) && !(unknown && port_is_foreign(r))) continue;
    port_fetch(r, write);
  }
}

/* Whether a pointer leads into the memory of an array; o: the object that this is in, or NULL. */
static int port_leads_to(const char *p, const port_record *r, const port_object *o)
{
  return p && (port_meets(r, p, p + 1) || (o && p >= o->p && p < o->p + o->bytes));
}

/* A table of pointers, and what they point at, so many levels deep. */
static void port_touch_rows(const volatile void *table, size_t bytes, int levels, int write)
{
  const port_object *t = bytes <= 1 ? port_object_at(table) : NULL;
  const char *end = t ? t->p + t->bytes : (const char *)(uintptr_t)table + bytes;
  char *const *rows = (char *const *)(uintptr_t)table;
  const size_t n = table ? (size_t)(end - (const char *)rows) / sizeof *rows : 0;

  port_touch(table, bytes, write);
  if (bytes <= 1 && !t)
    for (int i = 0; i < port_nrecords; i++)
      port_fetch(port_records[i], write);
  for (size_t k = 0; k < n && levels > 1; k++)
    if (port_object_at(rows[k])) port_touch_rows(rows[k], 1, levels - 1, write);
  for (int i = 0; i < port_nrecords && levels == 1; i++) {
    port_record *r = port_records[i];
    const port_object *o = r->nrows ? NULL : port_object_at(r->base);
    size_t k = 0;

    if (r->host_ok && !(write && r->dev_ok)) continue;
    while (k < n && !port_leads_to(rows[k], r, o))
      k++;
    if (k < n) port_fetch(r, write);
  }
}

PORT_API void port_reads(const volatile void *p, size_t bytes)
{
  port_touch(p, bytes, 0);
}

PORT_API void port_writes(const volatile void *p, size_t bytes)
{
  port_touch(p, bytes, 1);
}

/* ---- single elements ---- */

static double port_value_at(const void *p, ambit_type type)
{
  switch (type) {
  case AMBIT_F32: return *(const float *)p;
  case AMBIT_F64: return *(const double *)p;
  case AMBIT_I32: return *(const int *)p;
  case AMBIT_U8: return *(const unsigned char *)p;
  case AMBIT_I16: return *(const short *)p;
  default: return (double)*(const long *)p;
  }
}

/* Where the memory begins that an element is part of: the array, or the row behind a pointer, with
 * its indices. NULL: rows that steps have touched do not have it. */
static const char *port_cell_row(const port_record *r, const char *p, int64_t *at)
{
  const int64_t bytes = r->nrows ? port_row_bytes(r) : 0;

  if (!r->nrows) return r->base;
  for (int64_t i = 0; i < r->nrows; i++) {
    int64_t rest = i, is_touched = 1;

    if (!r->rows[i] || p < r->rows[i] || p >= r->rows[i] + bytes) continue;
    for (int d = r->levels - 1; d >= 0; d--) {
      at[d] = rest % r->extent[d];
      rest /= r->extent[d];
      is_touched &= at[d] >= r->lo[d] && at[d] < r->hi[d];
    }
    if (is_touched) return r->rows[i];
  }
  return NULL;
}

/* The cell that an element is; 0: none. -1: it may be several cells. */
static int port_cell_at(const port_record *r, const char *p, size_t bytes, int64_t *at)
{
  const char *base = port_cell_row(r, p, at);
  int64_t rest = base ? p - base : 0, last = INT64_MAX;

  if (bytes != ambit_type_size(r->type)) return -1;
  if (!base) return 0;
  for (int done = r->levels; done < r->axes; done++) { /* the largest stride first */
    int64_t most = 0;
    int axis = 0;

    for (int d = 0; d < r->axes; d++)
      if (r->stride[d] < last && r->stride[d] > most) most = r->stride[axis = d];
    if (!most) return -1;
    at[axis] = rest / most;
    rest %= most;
    last = most;
    if (p < base || at[axis] < r->lo[axis] || at[axis] >= r->hi[axis]) return 0;
  }
  return !rest;
}

static void port_move_cell(port_record *r, const char *p, const int64_t *at, int to_host)
{
  int64_t hi[PORT_AXES];
  long long value = 0; /* as large as any element */

  for (int d = 0; d < r->axes; d++)
    hi[d] = at[d] + 1;
  if (to_host) {
    port_must(ambit_field_read(r->field, at, hi, &value) == AMBIT_OK);
    memcpy((char *)(uintptr_t)p, &value, ambit_type_size(r->type));
    return;
  }
  memcpy(&value, p, ambit_type_size(r->type));
  port_must(ambit_field_write(r->field, at, hi, &value) == AMBIT_OK);
}

/* Host code is about to use one element: only that one is copied. */
PORT_API void port_get(const volatile void *p, size_t bytes)
{
  const char *element = (const char *)(uintptr_t)p;
  int64_t at[PORT_AXES];

  port_expect(element, element + bytes);
  for (int i = 0; i < port_nrecords && p; i++) {
    port_record *r = port_records[i];
    const int is_cell = port_meets(r, element, element + bytes) && !r->is_old
                            ? port_cell_at(r, element, bytes, at)
                            : 0;

    if (!is_cell) continue;
    port_make_copy(r);
    if (r->pending) port_flush();
    if (is_cell < 0)
      port_fetch(r, 1);
    else if (!r->host_ok && r->moves++ < PORT_MOVES)
      port_move_cell(r, element, at, 1);
    else
      port_to_host(r);
  }
}

/* ... and has changed it. */
PORT_API void port_put(const volatile void *p, size_t bytes)
{
  const char *element = (const char *)(uintptr_t)p;
  int64_t at[PORT_AXES];

  for (int i = 0; i < port_nrecords && p; i++) {
    port_record *r = port_records[i];

    if (!r->dev_ok || !port_meets(r, element, element + bytes) ||
        port_cell_at(r, element, bytes, at) <= 0)
      continue;
    port_part(r);
    if (r->pending) port_flush();
    r->moves++;
    if (r->host_ok && r->puts++ >= PORT_MOVES)
      r->dev_ok = 0;
    else
      port_move_cell(r, element, at, 0);
  }
}

PORT_API void port_reads_rows(const volatile void *table, size_t bytes, int levels)
{
  port_touch_rows(table, bytes, levels, 0);
}

PORT_API void port_writes_rows(const volatile void *table, size_t bytes, int levels)
{
  port_touch_rows(table, bytes, levels, 1);
}

PORT_API void port_reads_all(void)
{
  port_do_statements();
  for (int i = 0; i < port_nrecords; i++)
    if (!port_records[i]->host_ok || port_records[i]->pending == 2) port_to_host(port_records[i]);
}

PORT_API void port_writes_all(void)
{
  port_do_statements();
  port_flush();
  for (int i = 0; i < port_nrecords; i++) {
    port_fetch(port_records[i], 1);
  }
}

PORT_API void port_wait(void)
{
  port_flush();
}

PORT_API void port_forget(const volatile void *p, size_t bytes)
{
  const char *lo = (const char *)(uintptr_t)p;
  const int first = port_heap_before(p);

  port_expect(lo, lo + bytes);
  for (int i = port_nrecords - 1; i >= 0 && i < port_nrecords; i--)
    if (port_meets(port_records[i], lo, lo + bytes)) port_remove(i);
  for (int i = port_named.n - 1; i >= 0; i--)
    if (port_named.at[i].p == lo) {
      port_erase(&port_named, i);
      return;
    }
  if (first && port_heap.at[first - 1].p == lo) port_erase(&port_heap, first - 1);
}

/* ---- functions that code which was not translated calls ---- */

static int port_depth; /* of translated functions */

PORT_API int port_enter(void)
{
  return port_depth++;
}

/* The caller gets all values, and may change or free everything. */
PORT_API void port_leave(int *frame)
{
  (void)frame;
  if (--port_depth) return;
  port_writes_all();
  for (int i = 0; i < port_nrecords; i++)
    port_records[i]->is_old = 1;
}
