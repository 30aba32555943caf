/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked launches on every device here: wrong boxes, margins and layouts are found at the first
 * cell they affect, and nothing outside is touched. */
#include "device/access.h"
#include "nest/checked.h"
#include "support/devices.h"
#include "support/test.h"

#include <stdlib.h>

enum { ROWS = 6, COLUMNS = 40, TALL = 301 };

static const char rule_text[] = "void cross(const float *u, float *v)\n"
                                "{\n"
                                "  *v = u[-1][0] + u[1][0] + u[0][-1] + u[0][1];\n"
                                "}\n";

/* ---- a device, two fields and a function ---- */

typedef struct scene {
  ambit__errors errors;
  ambit__settings settings;
  const ambit__backend *backend;
  ambit__device *device;
  ambit__queue *queue;
  ambit__rule *rule;
  ambit__function *fn;
  int64_t extents[2];
  ambit__store u, v;
  ambit__boundaries clamp;
  ambit__argument args[2];
  ambit__launch launch;
  int64_t words[AMBIT_FAULT_WORDS + 2 * AMBIT_LIMIT_WORDS]; /* the record, copied to the host */
} scene;

static void make_store(scene *s, ambit__store *store)
{
  store->layout = (ambit__layout){.type = AMBIT_F32, .components = 1, .margin_lo = {1, 1}};
  store->layout.margin_hi[0] = store->layout.margin_hi[1] = 1;
  store->layout.own = ambit__box_of_extents(2, s->extents);
  CHECK(ambit__layout_make(&store->layout));
  CHECK_EQ(AMBIT_OK,
           ambit__ask(s->device, alloc, store->layout.bytes, &store->layout, &store->buffer));
}

static void build(scene *s, unsigned checks)
{
  const ambit__binding bind[2] = {{.is_field = true, .contiguous = true},
                                  {.is_field = true, .contiguous = true}};
  ambit__group g = {.rule = s->rule, .bind = bind, .depth = 1, .ndims = 2, .checks = checks};

  g.cells[0] = s->extents[0];
  g.cells[1] = s->extents[1];
  CHECK_EQ(AMBIT_OK, ambit__ask(s->device, build, &g, &s->fn));
}

static void begin(scene *s, const char *device, int64_t rows)
{
  memset(s, 0, sizeof *s);
  s->settings =
      (ambit__settings){.cache = "none", .dump = "", .devices = "", .cc = "", .threads = 4};
  s->extents[0] = rows;
  s->extents[1] = COLUMNS;
  s->backend = ambit__backend_find(&s->errors, device, strlen(device));
  CHECK_EQ(AMBIT_OK, s->backend->open(&s->errors, &s->settings, 0, &s->device));
  CHECK_EQ(AMBIT_OK, ambit__ask(s->device, queue_open, false, &s->queue));
  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&s->errors, "cross", rule_text, &s->rule));
  for (int d = 0; d < 2; d++)
    s->clamp.kind[d][0] = s->clamp.kind[d][1] = AMBIT_CLAMP;
  make_store(s, &s->u);
  make_store(s, &s->v);
  build(s, AMBIT__CHECK_ACCESS);
  CHECK(s->fn->checked);
  for (int i = 0; i < 2; i++)
    s->args[i] = (ambit__argument){.store = i ? &s->v : &s->u, .boundaries = &s->clamp};
  s->launch = (ambit__launch){.box = s->u.layout.own, .extents = s->extents, .nargs = 2};
  s->launch.args = s->args;
  CHECK_EQ(AMBIT_OK, ambit__ask(s->device, alloc, sizeof s->words, NULL, &s->launch.faults));
}

static void end(scene *s)
{
  CHECK_MSG(!s->errors.status, "%s", s->errors.text);
  ambit__ask(s->device, release, s->launch.faults);
  ambit__ask(s->device, release, s->u.buffer);
  ambit__ask(s->device, release, s->v.buffer);
  ambit__ask(s->device, discard, s->fn);
  ambit__rule_free(s->rule);
  ambit__ask(s->device, queue_close, s->queue);
  s->backend->close(s->device);
  ambit__errors_clear(&s->errors);
}

static void launch(scene *s)
{
  CHECK_EQ(ambit__faults_bytes(2), sizeof s->words);
  ambit__faults_arm(&s->launch, s->words);
  CHECK_EQ(AMBIT_OK, ambit__do(s->queue, put, s->launch.faults, s->words, sizeof s->words));
  CHECK_EQ(AMBIT_OK, ambit__do(s->queue, launch, s->fn, &s->launch));
  CHECK_EQ(AMBIT_OK, ambit__do(s->queue, get, s->words, s->launch.faults, sizeof s->words));
}

static void check_cell(const scene *s, int kind, int64_t row, int64_t column)
{
  CHECK_MSG(s->words[AMBIT_FAULT_KIND] == kind && s->words[AMBIT_FAULT_CELL] == row &&
                s->words[AMBIT_FAULT_CELL + 1] == column,
            "%s: want kind %d at [%lld][%lld], got %lld at [%lld][%lld]", s->backend->name, kind,
            (long long)row, (long long)column, (long long)s->words[AMBIT_FAULT_KIND],
            (long long)s->words[AMBIT_FAULT_CELL], (long long)s->words[AMBIT_FAULT_CELL + 1]);
}

/* The read in the record is that of u at this offset. */
static void check_offset(const scene *s, int row, int column)
{
  int param, k;

  ambit__checked_find_read(s->rule, (int)s->words[AMBIT_FAULT_ACCESS], &param, &k);
  CHECK_EQ(0, param);
  CHECK_EQ(row, s->rule->params[0].reads[k].offset[0]);
  CHECK_EQ(column, s->rule->params[0].reads[k].offset[1]);
}

static bool has_ghosts(const scene *s)
{
  return ambit__can(s->backend, ghosts);
}

/* ---- tests ---- */

static void a_launch_that_is_right_leaves_no_fault(void)
{
  EACH_DEVICE(d)
  {
    scene s;

    begin(&s, *d, ROWS);
    launch(&s);
    CHECK_EQ(0, s.words[AMBIT_FAULT_KIND]);
    end(&s);
  }
}

/* One row too many: on ref the boundary defines its reads, but no part owns it to write. */
static void a_box_that_is_too_large_is_found(void)
{
  EACH_DEVICE(d)
  {
    scene s;

    begin(&s, *d, ROWS);
    s.launch.box.hi[0] = ROWS + 1;
    launch(&s);
    check_cell(&s, has_ghosts(&s) ? AMBIT_FAULT_READ : AMBIT_FAULT_WRITE, ROWS, 0);
    if (has_ghosts(&s)) check_offset(&s, 1, 0);
    end(&s);
  }
}

/* Within the margins, but not an own cell. */
static void what_is_written_must_be_owned(void)
{
  EACH_DEVICE(d)
  {
    scene s;

    begin(&s, *d, ROWS);
    s.v.layout.own.hi[0] = ROWS - 1;
    launch(&s);
    check_cell(&s, AMBIT_FAULT_WRITE, ROWS - 1, 0);
    end(&s);
  }
}

/* A halo without its last column. */
static void cells_that_hold_no_values_are_not_read(void)
{
  EACH_DEVICE(d)
  {
    scene s;

    begin(&s, *d, ROWS);
    s.args[0].valid = (ambit__box){2, {-1, -1}, {ROWS + 1, COLUMNS - 1}};
    launch(&s);
    check_cell(&s, AMBIT_FAULT_READ, 0, COLUMNS - 2);
    check_offset(&s, 0, 1);
    end(&s);
  }
}

static void a_layout_that_lies_about_memory_is_found(void)
{
  EACH_DEVICE(d)
  {
    scene s;

    begin(&s, *d, ROWS);
    s.u.layout.stride[0] *= 1000;
    launch(&s);
    check_cell(&s, AMBIT_FAULT_READ, 0, 0);
    s.u.layout.stride[0] /= 1000;
    s.v.layout.origin = (int64_t)(s.v.layout.bytes / sizeof(float)) - 3;
    launch(&s);
    check_cell(&s, AMBIT_FAULT_WRITE, 0, 3);
    end(&s);
  }
}

/* Many threads find many faults; the first cell in row-major order is reported. */
static void the_first_of_many_faults_stays(void)
{
  EACH_DEVICE(d)
  {
    scene s;

    begin(&s, *d, TALL);
    s.args[0].valid = (ambit__box){2, {-1, -1}, {201, COLUMNS + 1}};
    launch(&s);
    check_cell(&s, AMBIT_FAULT_READ, 200, 0);
    check_offset(&s, 1, 0);
    end(&s);
  }
}

/* The function is not run: its kernel and its box suffice. */
static void what_a_launch_would_do_can_be_foreseen(void)
{
  scene s;

  begin(&s, "ref", ROWS);
  ambit__faults_arm(&s.launch, s.words);
  ambit__access_foresee(s.rule, &s.launch, s.words);
  CHECK_EQ(0, s.words[AMBIT_FAULT_KIND]);
  s.args[0].valid = (ambit__box){2, {-1, -1}, {ROWS + 1, COLUMNS}};
  ambit__access_foresee(s.rule, &s.launch, s.words);
  check_cell(&s, AMBIT_FAULT_READ, ROWS - 1, COLUMNS - 1);
  check_offset(&s, 0, 1);
  end(&s);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_launch_that_is_right_leaves_no_fault", a_launch_that_is_right_leaves_no_fault},
      {"a_box_that_is_too_large_is_found", a_box_that_is_too_large_is_found},
      {"what_is_written_must_be_owned", what_is_written_must_be_owned},
      {"cells_that_hold_no_values_are_not_read", cells_that_hold_no_values_are_not_read},
      {"a_layout_that_lies_about_memory_is_found", a_layout_that_lies_about_memory_is_found},
      {"the_first_of_many_faults_stays", the_first_of_many_faults_stays},
      {"what_a_launch_would_do_can_be_foreseen", what_a_launch_would_do_can_be_foreseen},
      {0}};

  return test_main(argc, argv, tests);
}
