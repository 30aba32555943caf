/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c - the command line. */
#include "terrain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: terrain [FILE] [options]\n"
    "FILE: elevations (.hgt, .asc, .tif); without one, a terrain is made\n"
    "  --cost FILE          what a metre costs in each cell, a raster of the same size (default: "
    "1)\n"
    "  --target ROW,COLUMN  the cell to go to (default: the middle)\n"
    "  --from ROW,COLUMN    the cell to start from (default: the one from which it costs most)\n"
    "  --latitude DEGREES   of the middle, for files in degrees that do not say where they are\n"
    "  --size N or NxM      cells of the made terrain (default: 400)\n"
    "  --picture OUT.png    draws the costs and the way\n"
    "  --check              compares the costs with those of Dijkstra's algorithm\n";

/* Two numbers with `between` in the middle, and nothing else. */
static int read_pair(const char *value, const char *between, int64_t *a, int64_t *b)
{
  char format[32];
  int n = 0;

  snprintf(format, sizeof format, "%%" SCNd64 "%s%%" SCNd64 "%%n", between);
  return sscanf(value, format, a, b, &n) == 2 && !value[n] && *a >= 0 && *b >= 0;
}

static int read_size(const char *value, request *r)
{
  int n = 0;

  r->width = 0;
  return (read_pair(value, "x", &r->size, &r->width) && r->size && r->width) ||
         (sscanf(value, "%" SCNd64 "%n", &r->size, &n) == 1 && !value[n] && r->size > 0);
}

static int read_latitude(const char *value, request *r)
{
  int n = 0;

  return sscanf(value, "%lf%n", &r->latitude, &n) == 1 && !value[n] && fabs(r->latitude) <= 90;
}

/* Whether the value suits its option. */
static int take(const char *option, const char *value, request *r)
{
  if (!strcmp(option, "--cost")) return *(r->cost = value) != '\0';
  if (!strcmp(option, "--picture")) return *(r->picture = value) != '\0';
  if (!strcmp(option, "--size")) return read_size(value, r);
  if (!strcmp(option, "--latitude")) return read_latitude(value, r);
  if (!strcmp(option, "--target")) return read_pair(value, ",", &r->target.row, &r->target.column);
  return read_pair(value, ",", &r->from.row, &r->from.column);
}

static int has_value(const char *option)
{
  static const char *const all[] = {"--cost", "--picture",  "--size",
                                    "--from", "--latitude", "--target"};

  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(option, all[i])) return 1;
  return 0;
}

int read_request(int argc, char **argv, request *r)
{
  *r = (request){.size = 400, .target = {-1, -1}, .from = {-1, -1}, .latitude = (double)NAN};
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return fputs(usage, stdout), 0;
    if (!strcmp(argv[i], "--check")) {
      r->check = 1;
    } else if (has_value(argv[i])) {
      if (i + 1 == argc || !take(argv[i], argv[i + 1], r)) {
        fprintf(stderr, "terrain: %s is '%s'\n%s", argv[i], i + 1 < argc ? argv[i + 1] : "", usage);
        return 2;
      }
      i++;
    } else if (argv[i][0] == '-' || r->file) {
      fprintf(stderr, "terrain: unknown argument '%s'\n%s", argv[i], usage);
      return 2;
    } else {
      r->file = argv[i];
    }
  }
  return -1;
}
