/* SPDX-License-Identifier: BSD-3-Clause */
/* field_npy.c - fields as arrays in NumPy files, in pieces (runtime/objects/pieces.h).
 *
 * To save, process 0 creates the file with its full length, every process writes its own parts, and
 * at the end process 0 renames the file. To load, every process opens the file and reads its parts.
 * A pipe is read or written in order by process 0; all processes take part in every piece. Lists of
 * active cells (field_list.c) are saved in the same way, and read by process 0.
 */
#include "io/field_npy.h"

#include "base/memory.h"
#include "io/npy.h"
#include "runtime/objects/pieces.h"

#include <inttypes.h>
#include <stdlib.h>

#define ERRORS(f) (&(f)->grid->context->errors)
#define NET(f)    ((f)->grid->context->net)

/* ---- pieces ---- */

static ambit_status put_list(ambit_field *f, const ambit__box *box, void *dense, void *list)
{
  if (f->grid->active && !ambit__active_count(f->grid->active, box)) return AMBIT_OK;
  AMBIT_TRY(ambit__field_read_own(f, box, dense));
  return ambit__cell_list_put(f, box, dense, list, false);
}

static ambit_status put_bytes(void *file, size_t at, void *bytes, size_t n)
{
  return ambit__npy_put(file, at, bytes, n);
}

static ambit_status put_piece(ambit_field *f, const ambit__box *box, void *dense, void *file)
{
  AMBIT_TRY(ambit__field_read_own(f, box, dense));
  return ambit__each_bytes(f, box, dense, ambit__field_cell_bytes(f), put_bytes, file);
}

static ambit_status get_bytes(void *file, size_t at, void *bytes, size_t n)
{
  return ambit__npy_get(file, at, bytes, n);
}

static ambit_status get_piece(ambit_field *f, const ambit__box *box, void *dense, void *file)
{
  AMBIT_TRY(ambit__each_bytes(f, box, dense, ambit__field_cell_bytes(f), get_bytes, file));
  return ambit_field_write(f, box->lo, box->hi, dense);
}

/* ---- saving ---- */

static void form_of(const ambit_field *f, bool as_list, ambit__npy_info *form)
{
  *form = (ambit__npy_info){.type = f->type};
  if (as_list)
    ambit__cell_list_form(f, form);
  else
    form->ndims = ambit__field_shape(f, form->shape);
}

/* A file that is being saved. */
typedef struct saving {
  ambit__saving head;
  ambit__npy_info form;
  ambit__npy *npy; /* NULL: ended */
} saving;

/* Every process writes its own parts. */
static ambit_status write_own(ambit_field *f, const saving *s)
{
  ambit__cell_list list;
  ambit_status status;

  if (!s->form.axes) return ambit__each_own_piece(f, true, put_piece, s->npy);
  status = ambit__cell_list_begin(f, s->npy, &list);
  if (!status) status = ambit__each_own_piece(f, true, put_list, &list);
  ambit__cell_list_end(&list);
  return status;
}

static ambit_status append_list(ambit_field *f, const ambit__box *box, void *dense, void *list)
{
  AMBIT_TRY(ambit_field_read(f, box->lo, box->hi, dense));
  if (!NET(f)->rank) ambit__cell_list_put(f, box, dense, list, true); /* as below */
  return AMBIT_OK;
}

static ambit_status append_piece(ambit_field *f, const ambit__box *box, void *dense, void *file)
{
  const size_t bytes = (size_t)ambit__box_volume(box) * ambit__field_cell_bytes(f);

  AMBIT_TRY(ambit_field_read(f, box->lo, box->hi, dense));
  if (!NET(f)->rank) ambit__npy_append(file, dense, bytes); /* the next read detects a failure */
  return AMBIT_OK;
}

/* Process 0 writes to a pipe. */
static ambit_status write_pipe(ambit_field *f, const ambit__npy_info *form, ambit__npy *npy)
{
  ambit__cell_list list;
  ambit_status s;

  if (!form->axes) return ambit__each_shared_piece(f, append_piece, npy);
  ambit__cell_list_begin(f, npy, &list);
  s = ambit__each_shared_piece(f, append_list, &list);
  ambit__cell_list_end(&list);
  return s;
}

static ambit_status write_field(ambit__saving *head)
{
  const saving *s = (saving *)head;

  return head->in_order ? write_pipe(head->fields[0], &s->form, s->npy)
                        : write_own(head->fields[0], s);
}

static ambit_status commit(ambit__saving *head)
{
  ambit__npy *npy = ((saving *)head)->npy;

  ((saving *)head)->npy = NULL;
  return npy ? ambit__npy_end(npy) : AMBIT_OK; /* a pipe is that of process 0 */
}

static void tell(ambit__saving *head, ambit__errors *errors)
{
  if (((saving *)head)->npy) ambit__npy_tell(((saving *)head)->npy, errors);
}

static void free_saving(ambit__saving *head)
{
  ambit__npy_abort(((saving *)head)->npy);
  free(head);
}

/* Process 0 creates the file and broadcasts its temporary name; the others join. */
static ambit_status begin(saving *s, const char *path)
{
  ambit *a = s->head.context;
  const char *where = NULL;
  char *beside = NULL;
  ambit_status status;

  if (!a->net->rank && !ambit__npy_create(&a->errors, path, &s->form, &s->npy))
    ambit__npy_share(s->npy, &where);
  status = ambit__share_name(a, where, &beside);
  s->head.in_order = !beside;
  if (!status && beside && a->net->rank)
    ambit__npy_join(&a->errors, path, beside, &s->form, &s->npy);
  free(beside);
  return status ? status : ambit__net_agree(a->net);
}

ambit_status ambit__save_begin_npy(const char *path, ambit_field *const *f, bool as_list,
                                   ambit__saving **out)
{
  saving *s;

  *out = NULL;
  AMBIT_CHECK((*f)->type != AMBIT_BF16, ERRORS(*f), AMBIT_EIO,
              "%s: NumPy has no type for the bfloat field '%s'; save a float field that a kernel "
              "copies it to",
              path, (*f)->name);
  s = ambit__new(ERRORS(*f), 1, sizeof *s);
  if (s) {
    s->head = (ambit__saving){.context = (*f)->grid->context,
                              .n = 1,
                              .fields = f,
                              .write = write_field,
                              .commit = commit,
                              .tell = tell,
                              .free = free_saving};
    form_of(*f, as_list, &s->form);
    *out = &s->head;
  }
  AMBIT_TRY(ambit__net_agree(NET(*f)));
  return begin(s, path);
}

/* ---- loading ---- */

static ambit_status check_npy(const ambit_field *f, const char *path, const ambit__npy_info *info)
{
  int64_t shape[AMBIT__NPY_DIMS];
  int ndims = ambit__field_shape(f, shape);

  AMBIT_CHECK(info->type == f->type, ERRORS(f), AMBIT_EIO,
              "%s holds values of type %s, but field '%s' is %s", path, ambit_type_name(info->type),
              f->name, ambit_type_name(f->type));
  if (info->axes) {
    AMBIT_CHECK(info->axes == f->grid->box.ndims && info->values == f->components, ERRORS(f),
                AMBIT_EIO,
                "%s lists cells of %d axes with %d values each, but field '%s' has %d and %d", path,
                info->axes, info->values, f->name, f->grid->box.ndims, f->components);
    return AMBIT_OK;
  }
  AMBIT_CHECK(info->ndims == ndims, ERRORS(f), AMBIT_EIO,
              "%s has %d dimensions, but field '%s' needs %d%s", path, info->ndims, f->name, ndims,
              ndims > f->grid->box.ndims ? " (the last one is the component)" : "");
  for (int d = 0; d < ndims; d++)
    AMBIT_CHECK(info->shape[d] == shape[d], ERRORS(f), AMBIT_EIO,
                "%s has %" PRId64 " values along dimension %d, but field '%s' needs %" PRId64, path,
                info->shape[d], d, f->name, shape[d]);
  return AMBIT_OK;
}

static ambit_status open_npy(ambit_field *f, const char *path, ambit__npy_info *info,
                             ambit__npy_reader **reader)
{
  AMBIT_TRY(ambit__npy_open_any(ERRORS(f), path, info, reader));
  return check_npy(f, path, info);
}

/* Process 0 opens the file first: a pipe can be opened only once. */
static ambit_status open_together(ambit_field *f, const char *path, ambit__npy_info *info,
                                  ambit__npy_reader **reader)
{
  if (!NET(f)->rank) open_npy(f, path, info, reader);
  AMBIT_TRY(ambit__net_agree(NET(f)));
  AMBIT_TRY(ambit__net_broadcast(NET(f), 0, info, sizeof *info));
  if (NET(f)->rank && info->seekable && !info->axes) open_npy(f, path, info, reader);
  return ambit__net_agree(NET(f));
}

static ambit_status take_piece(ambit_field *f, const ambit__box *box, void *dense, void *file)
{
  const size_t bytes = (size_t)ambit__box_volume(box) * ambit__field_cell_bytes(f);

  if (!NET(f)->rank) ambit__npy_next(file, dense, bytes);
  AMBIT_TRY(ambit__net_agree(NET(f)));
  AMBIT_TRY(ambit__net_broadcast(NET(f), 0, dense, bytes));
  return ambit_field_write(f, box->lo, box->hi, dense);
}

ambit_status ambit__field_load_npy(ambit_field *f, const char *path)
{
  ambit__npy_reader *reader = NULL;
  ambit__npy_info info = {0};
  ambit_status s = open_together(f, path, &info, &reader);

  if (!s) {
    ambit__field_changed(f);
    if (info.axes)
      ambit__cell_list_load(f, path, &info, reader);
    else if (info.seekable)
      ambit__each_own_piece(f, false, get_piece, reader);
    else
      ambit__each_shared_piece(f, take_piece, reader);
    s = ambit__meet(f->grid->context, "has loaded a file");
  }
  ambit__npy_close(reader);
  return s;
}
