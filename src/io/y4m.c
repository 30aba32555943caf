/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/y4m.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SIDE = 1 << 20 }; /* pixels */

/* How the planes after the first are subsampled. */
typedef struct colour_space {
  const char *name;
  int nplanes, across, down;
} colour_space;

static const colour_space spaces[] = {
    {"mono", 1, 1, 1},     {"420", 3, 2, 2},      {"420jpeg", 3, 2, 2}, {"420mpeg2", 3, 2, 2},
    {"420paldv", 3, 2, 2}, {"411", 3, 4, 1},      {"422", 3, 2, 1},     {"440", 3, 1, 2},
    {"444", 3, 1, 1},      {"444alpha", 4, 1, 1},
};

static ambit_status find_space(ambit__errors *errors, const char *path, const char *name,
                               size_t length, const colour_space **out)
{
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    if (strlen(spaces[i].name) == length && !memcmp(spaces[i].name, name, length)) {
      *out = &spaces[i];
      return AMBIT_OK;
    }
  return ambit__raise(errors, AMBIT_EIO,
                      "%s: frames have the colour space '%.*s'; it must be one of 8 bits: mono, "
                      "420, 411, 422, 440, 444 (ffmpeg: -pix_fmt gray, yuv420p, yuv411p, yuv422p, "
                      "yuv440p, yuv444p)",
                      path, length > 40 ? 40 : (int)length, name);
}

/* A side of the frame, from "W640". */
static ambit_status read_side(ambit__errors *errors, const char *path, const char *word,
                              int64_t *side)
{
  char *end;
  long n = word[1] >= '0' && word[1] <= '9' ? strtol(word + 1, &end, 10) : -1;

  AMBIT_CHECK(n >= 1 && n <= MOST_SIDE && (*end == ' ' || !*end), errors, AMBIT_EIO,
              "%s: the %s in its header is '%.*s'; it must be a number from 1 to %d", path,
              *word == 'W' ? "width" : "height", (int)(strcspn(word, " ") % 40), word, MOST_SIDE);
  *side = n;
  return AMBIT_OK;
}

static void shape(const colour_space *space, int64_t width, int64_t height, ambit__frame_form *form)
{
  *form = (ambit__frame_form){.nplanes = space->nplanes};
  for (int i = 0; i < space->nplanes; i++) {
    const int across = i == 1 || i == 2 ? space->across : 1;
    const int down = i == 1 || i == 2 ? space->down : 1;

    form->width[i] = (width + across - 1) / across;
    form->height[i] = (height + down - 1) / down;
    form->bytes += ambit__plane_bytes(form, i);
  }
}

ambit_status ambit__y4m_parse(ambit__errors *errors, const char *path, const char *line,
                              ambit__frame_form *form)
{
  static const char magic[] = "YUV4MPEG2";
  const colour_space *space = &spaces[1];
  int64_t width = 0, height = 0;

  AMBIT_CHECK(!strncmp(line, magic, strlen(magic)) &&
                  (line[strlen(magic)] == ' ' || !line[strlen(magic)]),
              errors, AMBIT_EIO, "%s is not a Y4M file: it does not begin with %s", path, magic);
  for (const char *word = strchr(line, ' '); word; word = strchr(word, ' ')) {
    word++;
    if (*word == 'W') AMBIT_TRY(read_side(errors, path, word, &width));
    if (*word == 'H') AMBIT_TRY(read_side(errors, path, word, &height));
    if (*word == 'C') AMBIT_TRY(find_space(errors, path, word + 1, strcspn(word + 1, " "), &space));
  }
  AMBIT_CHECK(width && height, errors, AMBIT_EIO, "%s: its header has no width or no height", path);
  shape(space, width, height, form);
  return AMBIT_OK;
}
