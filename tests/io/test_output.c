/* SPDX-License-Identifier: BSD-3-Clause */
/* Output while programs run: which iterations, which names, the list for ParaView, films, ranges,
 * and disks that are full. From any number of processes. */
#define _XOPEN_SOURCE 700 /* mkdtemp, setrlimit */
#include "base/file.h"
#include "io/draw.h"
#include "io/frames.h"
#include "io/hdf5.h"
#include "runtime/objects/scribe.h"
#include "support/test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HEAT_ROWS = 90, HEAT_COLUMNS = 40 };

static ambit *a; /* of the test that runs */
static char folder[64];

static const char *path_of(const char *name)
{
  static char path[4][128];
  static int turn;

  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

/* A counter: u is the number of iterations done, plus the column. */
typedef struct world {
  ambit_grid *grid;
  ambit_field *u, *v;
  ambit_program *program;
} world;

static double column(const int64_t *index, int component, void *user)
{
  (void)component, (void)user;
  return (double)index[1];
}

static world make(int64_t rows, int64_t columns)
{
  static const char rule[] = "void count(const double *u, double *v) { *v = *u + 1; }";
  world w = {.grid = ambit_grid_create(a, 2, (int64_t[]){rows, columns})};

  w.u = ambit_field_create(w.grid, "u", AMBIT_F64);
  w.v = ambit_field_create(w.grid, "v", AMBIT_F64);
  w.program = ambit_program_create(w.grid);
  ambit_field_fill(w.u, column, NULL);
  ambit_apply(w.program, ambit_kernel_create(a, rule), w.u, w.v);
  ambit_swap(w.program, w.u, w.v);
  return w;
}

/* The value of cell 0, 0 that a file has; -1: there is no such file. */
static double first_value(const char *name)
{
  world w = make(6, 8);
  double x = -1;

  if (!access(path_of(name), F_OK)) {
    CHECK_EQ(AMBIT_OK, ambit_field_load(w.u, path_of(name)));
    ambit_field_read(w.u, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), &x);
  }
  ambit_grid_destroy(w.grid);
  return x;
}

static void files_have_the_iteration_as_their_number(void)
{
  world w = make(6, 8);

  CHECK_EQ(AMBIT_OK, ambit_output(w.program, 3, path_of("n_%02d.npy"), 1, &w.u, NULL));
  CHECK_EQ(AMBIT_OK, ambit_output(w.program, 5, path_of("last.npy"), 1, &w.u, NULL));
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 4));
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 4));
  CHECK_EQ(AMBIT_OK, ambit_output_end(w.program));
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 4)); /* writes no more */
  CHECK(first_value("n_00.npy") == 0 && first_value("n_03.npy") == 3);
  CHECK(first_value("n_06.npy") == 6 && first_value("n_09.npy") == -1);
  CHECK(first_value("last.npy") == 5);
}

static int note(ambit_program *p, int64_t iteration, void *user)
{
  (void)p;
  *(int64_t *)user = 100 * *(int64_t *)user + iteration;
  return 0;
}

static void callbacks_are_called_as_before(void)
{
  world w = make(6, 8);
  int64_t calls = 0;

  ambit_on_iteration(w.program, 4, note, &calls);
  ambit_output(w.program, 3, path_of("n_%02d.npy"), 1, &w.u, NULL);
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 9));
  CHECK_EQ(408, calls);
  CHECK(first_value("n_09.npy") == 9);
}

/* The result of 12 iterations of heat with a receiver, with an output after every n. */
static void run_heat(int64_t n, double *values)
{
  static const char heat[] = AMBIT_SOURCE(void heat(const double *u, double *v) {
    *v = *u + 0.2 * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
  });
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){HEAT_ROWS, HEAT_COLUMNS});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F64);
  ambit_field *v = ambit_field_create(g, "v", AMBIT_F64);
  ambit_points *middle = ambit_points_create(g, 1, (double[]){44.5, 20}, AMBIT_LINEAR);
  ambit_record *seen = ambit_record_create(a, "seen");
  ambit_program *p = ambit_program_create(g);

  ambit_field_fill(u, column, NULL);
  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_CONSTANT, 0);
  ambit_apply(p, ambit_kernel_create(a, heat), u, v);
  ambit_swap(p, u, v);
  ambit_sample(p, middle, u, seen);
  if (n) ambit_output(p, n, path_of("u.npy"), 1, &u, NULL);
  CHECK_EQ(AMBIT_OK, ambit_run(p, 12));
  ambit_field_read(u, NULL, NULL, values);
  ambit_grid_destroy(g);
  ambit_record_destroy(seen);
}

/* Stretches between outputs begin with several iterations at once, or with single ones. */
static void results_do_not_depend_on_output(void)
{
  static double want[HEAT_ROWS * HEAT_COLUMNS], got[HEAT_ROWS * HEAT_COLUMNS];

  ambit_option_set(a, "strict", "1");
  run_heat(0, want);
  for (int64_t n = 2; n < 6; n++) {
    run_heat(n, got);
    CHECK(!memcmp(want, got, sizeof want));
  }
}

static void paraview_gets_a_list_of_files(void)
{
  static const char want[] = "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"
                             "    { \"name\": \"s_0.vtkhdf\", \"time\": 0 },\n"
                             "    { \"name\": \"s_2.vtkhdf\", \"time\": 2 },\n"
                             "    { \"name\": \"s_4.vtkhdf\", \"time\": 4 }\n  ]\n}\n";
  world w = make(6, 8);
  char *text = NULL;

  if (ambit__h5_why_not()[0]) SKIP("%s", ambit__h5_why_not());
  CHECK_EQ(AMBIT_OK, ambit_output(w.program, 2, path_of("s_%d.vtkhdf"), 2,
                                  (ambit_field *[]){w.u, w.v}, NULL));
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 5));
  CHECK_EQ(AMBIT_OK, ambit_output_end(w.program));
  CHECK_EQ(AMBIT_OK, ambit__file_read_text(&a->errors, path_of("s.vtkhdf.series"), 1000, &text));
  CHECK_STR(want, text ? text : "");
  free(text);
  CHECK(first_value("s_4.vtkhdf") == 4);
}

static void a_film_has_a_frame_for_each_output(void)
{
  static const char want[] = "YUV4MPEG2 W512 H384 F30000000:1000000 Ip A1:1 C444\nFRAME\n";
  const size_t frame = 6 + 3 * 512 * 384;
  world w = make(6, 8);
  void *bytes = NULL;
  size_t n = 0;
  const ambit_picture look = {.lo = 0, .hi = 20, .colours = "viridis", .rate = 30};

  CHECK_EQ(AMBIT_OK, ambit_output(w.program, 2, path_of("film.y4m"), 1, &w.u, &look));
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 7));
  CHECK(access(path_of("film.y4m"), F_OK)); /* it appears when it is complete */
  ambit__net_barrier(a->net);
  CHECK_EQ(AMBIT_OK, ambit_output_end(w.program));
  CHECK_EQ(AMBIT_OK, ambit__file_read_all(&a->errors, path_of("film.y4m"), 1 << 24, &bytes, &n));
  CHECK_EQ(strlen(want) - 6 + 4 * frame, n);
  CHECK(bytes && !memcmp(bytes, want, strlen(want)));
  /* Column 2 of frame 0 has the value of column 0 of frame 1. */
  if (bytes && n > 2 * frame) {
    const unsigned char *luma = (unsigned char *)bytes + strlen(want);

    CHECK(luma[2 * 64] == luma[frame] && luma[0] != luma[frame]);
  }
  free(bytes);
}

static void a_range_that_is_not_given_grows(void)
{
  world w = make(6, 8);
  ambit__drawing d;
  ambit__picture p;
  const double lo[] = {0, 0}, hi[] = {7, 10};

  CHECK_EQ(AMBIT_OK, ambit__drawing_make(w.u, NULL, &d));
  d.is_series = true;
  for (int i = 0; i < 2; i++, ambit_run(w.program, 3)) {
    CHECK_EQ(AMBIT_OK, ambit__drawing_read(w.u, &d, &p));
    if (!ambit_process(a)) CHECK(p.lo == lo[i] && p.hi == hi[i]);
    ambit__picture_free(&p);
  }
  ambit_field_set(w.u, 99); /* one value alone is drawn in the range of the others */
  CHECK_EQ(AMBIT_OK, ambit__drawing_read(w.u, &d, &p));
  if (!ambit_process(a)) CHECK(p.lo == 0 && p.hi == 10);
  ambit__picture_free(&p);
}

static double place(const int64_t *index, int component, void *user)
{
  (void)user;
  return (double)(1000 * component + 100 * index[0] + 10 * index[1] + index[2]);
}

static void slices_are_planes_of_any_axis(void)
{
  static const struct {
    const char *slice;
    int64_t width, height;
    double at[2]; /* the values of row 0, column 1, and row 1, column 0 */
  } cases[] = {
      {"z=1", 4, 3, {1101, 1110}}, {"1=2", 4, 2, {1021, 1120}}, {"x=3", 3, 2, {1013, 1103}}};
  ambit_grid *g = ambit_grid_create(a, 3, (int64_t[]){2, 3, 4});
  ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_F32, 2, AMBIT_AOS);
  ambit__drawing d;
  ambit__picture p;

  ambit_field_fill(f, place, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const ambit_picture look = {.slice = cases[i].slice, .component = 1};

    CHECK_EQ(AMBIT_OK, ambit__drawing_make(f, &look, &d));
    CHECK_EQ(AMBIT_OK, ambit__drawing_read(f, &d, &p));
    if (!ambit_process(a)) {
      CHECK(p.width == cases[i].width && p.height == cases[i].height);
      CHECK_MSG(p.values[1] == cases[i].at[0] && p.values[p.width] == cases[i].at[1], "%s: %g, %g",
                cases[i].slice, p.values[1], p.values[p.width]);
    }
    ambit__picture_free(&p);
  }
}

static void refuses(ambit_status s, const char *words)
{
  CHECK(s != AMBIT_OK);
  CHECK_MSG(strstr(ambit_error_text(a), words), "\"%s\" is not in: %s", words, ambit_error_text(a));
  ambit_error_clear(a);
}

static void mistakes_are_explained(void)
{
  world w = make(6, 8);
  ambit_field *both[] = {w.u, w.v};
  const ambit_picture plane = {.slice = "z=1"}, colours = {.colours = "pink"},
                      range = {.lo = 2, .hi = 1}, component = {.component = 1};

  refuses(ambit_output(w.program, 0, "a.npy", 1, &w.u, NULL), "interval");
  refuses(ambit_output(w.program, 1, "a.mp4", 1, &w.u, NULL), "must end in .vtkhdf");
  refuses(ambit_output(w.program, 1, "a_%s.npy", 1, &w.u, NULL), "%06d");
  refuses(ambit_output(w.program, 1, "a.npy", 2, both, NULL), "2 fields cannot be written");
  refuses(ambit_output(w.program, 1, "a%d.y4m", 1, &w.u, NULL), "a film is one file");
  refuses(ambit_output(w.program, 1, "a.y4m", 1, &w.u, &plane), "a plane of 3 dimensions");
  refuses(ambit_field_draw(w.u, "a.png", &colours), "no colours 'pink'");
  refuses(ambit_field_draw(w.u, "a.png", &range), "range");
  refuses(ambit_field_draw(w.u, "a.png", &component), "component 1");
  refuses(ambit_field_draw(w.u, "a.npy", NULL), "must end in .png");
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 2)); /* none of them is left */
}

/* Files above the limit fail, as on a full disk. */
static void limit_files(rlim_t bytes)
{
  struct rlimit limit;

  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes ? bytes : limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
}

/* What was begun before is written without the limit, and with it. */
static int shrink(ambit_program *p, int64_t iteration, void *user)
{
  (void)p, (void)user;
  ambit__scribe_wait(a);
  limit_files(iteration == 4 ? 1000 : 0);
  return 0;
}

static void a_full_disk_does_not_end_the_run(void)
{
  world w = make(60, 80);
  double x;

  ambit_on_error(a, NULL, NULL);
  ambit_on_iteration(w.program, 4, shrink, NULL); /* no room in iterations 5 to 8 */
  ambit_output(w.program, 3, path_of("d_%d.npy"), 1, &w.u, NULL);
  ambit_output(w.program, 6, path_of("keep.npy"), 1, &w.u, NULL);
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 10));
  limit_files(0);
  CHECK_EQ(AMBIT_OK, ambit_field_read(w.u, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), &x));
  CHECK(x == 10);
  CHECK(!access(path_of("d_3.npy"), F_OK) && access(path_of("d_6.npy"), F_OK));
  CHECK(!access(path_of("d_9.npy"), F_OK));
  CHECK_EQ(AMBIT_OK, ambit_field_load(w.v, path_of("keep.npy"))); /* that of iteration 0 */
  CHECK_EQ(AMBIT_OK, ambit_field_read(w.v, AMBIT_INDEX(0, 0), AMBIT_INDEX(1, 1), &x));
  CHECK(x == 0);
  CHECK_EQ(AMBIT_EIO, ambit_output_end(w.program));
  CHECK_MSG(strstr(ambit_error_text(a), "1 of 4 outputs"), "%s", ambit_error_text(a));
  ambit_error_clear(a);
}

static void a_film_that_does_not_fit_is_told_and_an_older_one_stays(void)
{
  world w = make(60, 80);
  size_t before = 0, now = 1;
  void *bytes = NULL;

  ambit_on_error(a, NULL, NULL);
  for (int full = 0; full < 2; full++) { /* a frame has 900 kB */
    limit_files(full ? 2000000 : 0);
    CHECK_EQ(AMBIT_OK, ambit_output(w.program, 1, path_of("film.y4m"), 1, &w.u, NULL));
    CHECK_EQ(AMBIT_OK, ambit_run(w.program, full ? 10 : 1));
    CHECK_EQ(full ? AMBIT_EIO : AMBIT_OK, ambit_output_end(w.program));
    limit_files(0);
    ambit__net_barrier(a->net);
    if (full) {
      CHECK_MSG(strstr(ambit_error_text(a), "the film ") &&
                    strstr(ambit_error_text(a), "film.y4m could not be written: "),
                "%s", ambit_error_text(a));
      ambit_error_clear(a);
    }
    CHECK_EQ(AMBIT_OK, ambit__file_read_all(&a->errors, path_of("film.y4m"), 1 << 24, &bytes,
                                            full ? &now : &before));
    free(bytes);
  }
  CHECK_EQ(before, now);
}

static void a_field_that_is_gone_ends_its_output(void)
{
  world w = make(6, 8);
  ambit_field *other = ambit_field_create(w.grid, "other", AMBIT_F32);

  ambit_output(w.program, 1, path_of("o_%d.npy"), 1, &other, NULL);
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 1));
  ambit_field_destroy(other);
  CHECK_EQ(AMBIT_OK, ambit_run(w.program, 1));
  CHECK(!access(path_of("o_1.npy"), F_OK) && access(path_of("o_2.npy"), F_OK));
}

/* ---- folders ---- */

static void make_folder(void)
{
  const char *tmp = getenv("TMPDIR");

  snprintf(folder, sizeof folder, "%.40s/ambit-output-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!ambit_process(a) && !mkdtemp(folder)) folder[0] = '\0';
  ambit__net_broadcast(a->net, 0, folder, sizeof folder);
}

static void remove_folder(void)
{
  DIR *dir = ambit_process(a) ? NULL : opendir(folder);

  for (struct dirent *e; dir && (e = readdir(dir));)
    if (e->d_name[0] != '.') unlink(path_of(e->d_name));
  if (dir) closedir(dir);
  if (!ambit_process(a)) CHECK_EQ(0, rmdir(folder));
}

#define IN_CONTEXT(name)                                                                           \
  static void name##_(void)                                                                        \
  {                                                                                                \
    a = ambit_open(NULL, NULL);                                                                    \
    make_folder();                                                                                 \
    name();                                                                                        \
    ambit__net_barrier(a->net);                                                                    \
    remove_folder();                                                                               \
    CHECK_MSG(!ambit_error(a), "%s", ambit_error_text(a));                                         \
    ambit_close(a);                                                                                \
  }
IN_CONTEXT(files_have_the_iteration_as_their_number)
IN_CONTEXT(callbacks_are_called_as_before)
IN_CONTEXT(results_do_not_depend_on_output)
IN_CONTEXT(paraview_gets_a_list_of_files)
IN_CONTEXT(a_film_has_a_frame_for_each_output)
IN_CONTEXT(a_film_that_does_not_fit_is_told_and_an_older_one_stays)
IN_CONTEXT(a_range_that_is_not_given_grows)
IN_CONTEXT(slices_are_planes_of_any_axis)
IN_CONTEXT(mistakes_are_explained)
IN_CONTEXT(a_full_disk_does_not_end_the_run)
IN_CONTEXT(a_field_that_is_gone_ends_its_output)

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"files_have_the_iteration_as_their_number", files_have_the_iteration_as_their_number_},
      {"callbacks_are_called_as_before", callbacks_are_called_as_before_},
      {"results_do_not_depend_on_output", results_do_not_depend_on_output_},
      {"paraview_gets_a_list_of_files", paraview_gets_a_list_of_files_},
      {"a_film_has_a_frame_for_each_output", a_film_has_a_frame_for_each_output_},
      {"a_film_that_does_not_fit_is_told_and_an_older_one_stays",
       a_film_that_does_not_fit_is_told_and_an_older_one_stays_},
      {"a_range_that_is_not_given_grows", a_range_that_is_not_given_grows_},
      {"slices_are_planes_of_any_axis", slices_are_planes_of_any_axis_},
      {"mistakes_are_explained", mistakes_are_explained_},
      {"a_full_disk_does_not_end_the_run", a_full_disk_does_not_end_the_run_},
      {"a_field_that_is_gone_ends_its_output", a_field_that_is_gone_ends_its_output_},
      {NULL, NULL},
  };

  signal(SIGXFSZ, SIG_IGN);
  return test_main(argc, argv, cases);
}
