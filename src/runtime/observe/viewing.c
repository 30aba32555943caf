/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/observe/viewing.h"

#include "ambit.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take_screen(const char *word, ambit__viewing *v)
{
  static const char *const names[] = {
      [AMBIT__SCREEN_AUTO] = "terminal", [AMBIT__SCREEN_KITTY] = "kitty",
      [AMBIT__SCREEN_SIXEL] = "sixel",   [AMBIT__SCREEN_BLOCKS] = "blocks",
      [AMBIT__SCREEN_256] = "256",       [AMBIT__SCREEN_16] = "16",
      [AMBIT__SCREEN_ASCII] = "ascii"};

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(word, names[i])) return v->screen = (ambit__screen)i, true;
  return false;
}

/* http, http:PORT, http:/PATH */
static ambit_status take_http(ambit__errors *errors, const char *word, ambit__viewing *v)
{
  const char *where = word + strlen("http");
  char *end;
  long port;

  v->http = true;
  if (!*where) return AMBIT_OK;
  if (where[1] == '/') {
    AMBIT_CHECK(strlen(where + 1) < sizeof v->path, errors, AMBIT_EOPTION,
                "option view: the path of the socket %s is longer than %d characters", where + 1,
                AMBIT__VIEWING_PATH - 1);
    snprintf(v->path, sizeof v->path, "%s", where + 1);
    return AMBIT_OK;
  }
  port = strtol(where + 1, &end, 10);
  AMBIT_CHECK(end > where + 1 && !*end && port >= 0 && port <= 65535, errors, AMBIT_EOPTION,
              "option view: '%s' must be http, http:8080 with a port from 0 to 65535, or "
              "http:/path/of/a/socket",
              word);
  v->port = (int)port;
  return AMBIT_OK;
}

/* z=40, y=max, 3=7 */
static ambit_status take_plane(ambit__errors *errors, const char *word, ambit__viewing *v)
{
  static const char names[] = "zyx";
  const char *name = strchr(names, word[0]);
  char *end;

  v->axis = name ? (int)(name - names) : word[0] - '0';
  v->most = !strcmp(word + 2, "max");
  if (v->most) return AMBIT_OK;
  v->plane = strtoll(word + 2, &end, 10);
  AMBIT_CHECK(end > word + 2 && !*end && v->plane >= 0, errors, AMBIT_EOPTION,
              "option view: the plane is '%s'; it must be an axis and an index, z=40, or z=max",
              word);
  return AMBIT_OK;
}

static bool is_plane(const char *word)
{
  return word[0] && word[1] == '=' && (strchr("zyx", word[0]) || (word[0] >= '0' && word[0] < '6'));
}

static ambit_status take_range(ambit__errors *errors, const char *text, ambit__viewing *v)
{
  const char *at = ambit__number_scan(text, &v->lo);

  if (at && *at == ':') at = ambit__number_scan(at + 1, &v->hi);
  AMBIT_CHECK(at && !*at && isfinite(v->lo) && isfinite(v->hi) && v->lo < v->hi, errors,
              AMBIT_EOPTION,
              "option view: the range is '%s'; it must be two numbers, the lower one first: "
              "range=0:1",
              text);
  return AMBIT_OK;
}

/* u, u:2, u:norm */
static ambit_status take_field(ambit__errors *errors, const char *word, ambit__viewing *v)
{
  const size_t length = strcspn(word, ":=");
  const char *rest = word + length;
  char *end;
  long c;

  AMBIT_CHECK(*rest != '=' && length && length < sizeof v->field, errors, AMBIT_EOPTION,
              "option view: '%s' is not a word of it; use terminal, http, a field such as u, u:2 "
              "or u:norm, speed, a plane z=40 or z=max, colours=NAME, range=0:1, relief, paused",
              word);
  snprintf(v->field, sizeof v->field, "%.*s", (int)length, word);
  if (!*rest) return AMBIT_OK;
  if (!strcmp(rest, ":norm")) return v->component = AMBIT__VIEW_NORM, AMBIT_OK;
  c = strtol(rest + 1, &end, 10);
  AMBIT_CHECK(end > rest + 1 && !*end && c >= 0 && c < 1000, errors, AMBIT_EOPTION,
              "option view: '%s' must be a field and a component, u:0 or u:norm", word);
  v->component = (int)c;
  return AMBIT_OK;
}

static ambit_status take_word(ambit__errors *errors, const char *word, ambit__viewing *v)
{
  static const char *const on[] = {"", "1", "on", "yes", "true", NULL};

  if (ambit__is_one_of(word, on) || take_screen(word, v)) return AMBIT_OK;
  if (!strcmp(word, "http") || !strncmp(word, "http:", 5)) return take_http(errors, word, v);
  if (!strcmp(word, "paused")) return v->paused = true, AMBIT_OK;
  if (!strcmp(word, "relief")) return v->relief = true, AMBIT_OK;
  if (!strncmp(word, "range=", 6)) return take_range(errors, word + 6, v);
  if (!strncmp(word, "colours=", 8)) {
    snprintf(v->colours, sizeof v->colours, "%.*s", AMBIT__VIEWING_NAME - 1, word + 8);
    return AMBIT_OK;
  }
  if (is_plane(word)) return take_plane(errors, word, v);
  if (!strcmp(word, "speed")) {
    v->speed = true;
    v->component = AMBIT__VIEW_NORM;
    return AMBIT_OK;
  }
  return take_field(errors, word, v);
}

ambit_status ambit__viewing_parse(ambit__errors *errors, const char *text, ambit__viewing *v)
{
  static const char *const off[] = {"", "0", "off", "no", "false", NULL};
  char word[160];

  *v = (ambit__viewing){.axis = -1, .plane = -1};
  if (ambit__is_one_of(text, off)) return AMBIT_OK;
  v->is_on = true;
  for (const char *at = text; at;) {
    const char *comma = strchr(at, ',');
    const size_t length = comma ? (size_t)(comma - at) : strlen(at);

    AMBIT_CHECK(length < sizeof word, errors, AMBIT_EOPTION, "option view: '%.60s...' is too long",
                at);
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    AMBIT_TRY(take_word(errors, word, v));
    at = comma ? comma + 1 : NULL;
  }
  return AMBIT_OK;
}
