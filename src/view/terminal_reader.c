/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal_reader.c - the thread that draws pictures in the terminal and takes keys. */
#define _GNU_SOURCE /* pipe2 */
#include "view/screen.h"
#include "view/terminal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "io/png.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TICK = 100 /* ms between looks at the size */, MOST_PIXELS = 900 /* of kitty and sixel */ };
#define NOTE_SECONDS   3.0
#define WRITE_SECONDS  5.0 /* a terminal that takes nothing for so long does not get the rest */
#define ESCAPE_SECONDS 0.5 /* between the bytes of a sequence; after that it was the key Escape */

typedef struct terminal {
  ambit__viewer *viewer;
  int fd, wake[2];
  pthread_t thread;
  atomic_bool stops;
  ambit__terminal_skills skills;
  ambit__screen how;
  int rows, columns;            /* characters */
  int64_t drawn, drawn_changes; /* the frame and the state on the screen */
  bool help, is_fresh;          /* keys are shown; the screen must be cleared */
  char note[160];               /* in place of the status; empty: none */
  double note_ends;             /* 0: it has not been drawn yet */
  char pending[512];            /* of an escape sequence */
  size_t npending;
  double pending_since;
  char answer[512]; /* to the questions of ambit__terminal_ask, that came late */
  size_t nanswer;
} terminal;

/* ---- sizes ---- */

static bool is_graphic(const terminal *t)
{
  return t->how == AMBIT__SCREEN_KITTY || t->how == AMBIT__SCREEN_SIXEL;
}

/* Pixels of a character. */
static void cell_size(const terminal *t, int *width, int *height)
{
  *width = is_graphic(t) ? (t->skills.cell_width ? t->skills.cell_width : 9) : 1;
  *height = is_graphic(t) ? (t->skills.cell_height ? t->skills.cell_height : 18) : 2;
}

/* Pixels of the picture that the terminal has room for, above the status line. */
static void room(const terminal *t, int *width, int *height)
{
  int w, h;

  cell_size(t, &w, &h);
  *width = t->columns * w;
  *height = (t->rows > 1 ? t->rows - 1 : 1) * h;
  if (is_graphic(t) && *width > MOST_PIXELS) {
    *height = *height * MOST_PIXELS / *width;
    *width = MOST_PIXELS;
  }
}

static void measure(terminal *t)
{
  struct winsize now = {0};
  int width, height;

  if (ioctl(t->fd, TIOCGWINSZ, &now) || !now.ws_row || !now.ws_col) {
    now.ws_row = 24;
    now.ws_col = 80;
  }
  if (now.ws_row == t->rows && now.ws_col == t->columns) return;
  t->rows = now.ws_row;
  t->columns = now.ws_col;
  t->is_fresh = true;
  room(t, &width, &height);
  pthread_mutex_lock(&t->viewer->lock);
  t->viewer->rows = height;
  t->viewer->columns = width;
  t->viewer->changes++;
  pthread_cond_signal(&t->viewer->changed);
  pthread_mutex_unlock(&t->viewer->lock);
}

/* ---- drawing ---- */

static void draw_picture(const terminal *t, const ambit__picture *p, bool centred, ambit__text *out)
{
  int width, height, w, h, indent;
  ambit__image image;

  room(t, &width, &height);
  cell_size(t, &w, &h);
  if (!ambit__image_make(p, width, height, &image)) return;
  indent = centred && !is_graphic(t) ? (t->columns - image.width) / 2 : 0;
  if (t->how == AMBIT__SCREEN_KITTY)
    ambit__screen_kitty(&image, (image.width * t->columns + width - 1) / width,
                        (image.height * (t->rows - 1) + height - 1) / height, out);
  else if (t->how == AMBIT__SCREEN_SIXEL)
    ambit__screen_sixel(&image, out);
  else if (t->how == AMBIT__SCREEN_ASCII)
    ambit__screen_ascii(&image, indent, out);
  else
    ambit__screen_blocks(&image, t->how, indent, out);
  ambit__image_free(&image);
}

static const char *key_name(unsigned char key, char *text)
{
  static const char *const arrows[] = {"up", "down", "right", "left"};

  if (key == ' ') return "space";
  if (key >= AMBIT__KEY_ARROW) return arrows[key - AMBIT__KEY_ARROW - 'A'];
  text[0] = (char)key;
  text[1] = '\0';
  return text;
}

static void draw_help(const terminal *t, ambit__text *out)
{
  int row = 2;
  char name[2];

  for (const ambit__key *k = ambit__keys; k->command && row < t->rows - 1; k++)
    if (k->help)
      ambit__print(out, "\033[%d;3H\033[0;7m %-6s %-30s \033[0m", row++,
                   key_name((unsigned char)k->key, name), k->help);
}

/* The picture, as values of its own, and the status line. */
static void draw(terminal *t, const ambit__frame *f, const ambit__picture_options *style,
                 const char *status)
{
  ambit__text out = {0};

  ambit__print(&out, "\033[?2026h\033[H%s", t->is_fresh ? "\033[0m\033[2J" : "");
  if (f->number && f->pixels.values) {
    const ambit__picture p = ambit__frame_picture(f, style);

    draw_picture(t, &p, true, &out);
  }
  if (t->help) draw_help(t, &out);
  ambit__print(&out, "\033[%d;1H%s%.*s\033[K\033[0m\033[?2026l", t->rows,
               t->how == AMBIT__SCREEN_ASCII ? "" : "\033[7m", t->columns - 1, status);
  t->is_fresh =
      !out.failed && !ambit__terminal_draw(t->fd, out.chars, out.len, WRITE_SECONDS); /* again */
  ambit__text_free(&out);
}

/* Copies the latest frame; its values are the caller's. */
static ambit__frame copy_frame(const ambit__viewer *v)
{
  ambit__frame f = v->frame;
  const size_t bytes = (size_t)f.pixels.rows * (size_t)f.pixels.columns * sizeof *f.pixels.values;
  double *values = f.pixels.values ? malloc(bytes) : NULL;

  if (values) memcpy(values, f.pixels.values, bytes);
  f.pixels.values = values;
  return f;
}

static void refresh(terminal *t)
{
  const double start = ambit__clock_thread();
  ambit__viewer *v = t->viewer;
  char status[300];
  ambit__frame f;
  ambit__picture_options style;

  pthread_mutex_lock(&v->lock);
  t->drawn = v->frame.number;
  t->drawn_changes = v->changes;
  f = copy_frame(v);
  style = v->style;
  if (f.number)
    ambit__frame_status(v, &f, status, (size_t)(t->columns < 299 ? t->columns : 299));
  else
    snprintf(status, sizeof status, "compiling ...");
  pthread_mutex_unlock(&v->lock);
  if (*t->note) {
    snprintf(status, sizeof status, "%s", t->note);
    if (t->note_ends <= 0) t->note_ends = ambit__clock() + NOTE_SECONDS;
  }
  draw(t, &f, &style, status);
  free(f.pixels.values);
  pthread_mutex_lock(&v->lock);
  v->served += ambit__clock_thread() - start;
  v->wants = true;
  pthread_mutex_unlock(&v->lock);
}

/* ---- keys ---- */

static void note(terminal *t, const char *text)
{
  snprintf(t->note, sizeof t->note, "%s", text);
  t->note_ends = 0;
}

static bool is_note_over(const terminal *t)
{
  return *t->note && t->note_ends > 0 && ambit__clock() > t->note_ends;
}

/* As name_001200.png in the current folder. */
static void save(terminal *t)
{
  ambit__viewer *v = t->viewer;
  ambit__errors errors = {0};
  char path[AMBIT__SCENE_NAME + 40], text[160];
  ambit__frame f;
  ambit__picture p;
  int side;

  pthread_mutex_lock(&v->lock);
  f = copy_frame(v);
  snprintf(path, sizeof path, "%s_%06" PRId64 ".png", v->scene.fields[f.sight.field].name,
           f.iteration);
  p = ambit__frame_picture(&f, &v->style);
  pthread_mutex_unlock(&v->lock);
  for (char *c = path; *c; c++)
    if (*c == '/') *c = '_';
  if (f.pixels.values) {
    side = p.width > p.height ? (int)p.width : (int)p.height;
    p.zoom_x = p.zoom_y = side < 512 ? 512 / side : 1;
    if (ambit__png_put(&errors, path, &p))
      snprintf(text, sizeof text, "%s", errors.text ? errors.text : "it could not be saved");
    else
      snprintf(text, sizeof text, "saved %s", path);
    note(t, text);
  }
  ambit__errors_clear(&errors);
  free(f.pixels.values);
}

static void suspend(terminal *t)
{
  ambit__terminal_leave();
  kill(0, SIGTSTP);
  ambit__terminal_enter(t->fd);
  t->is_fresh = true;
}

static void press(terminal *t, unsigned char key)
{
  const char *command = key == 26 ? NULL : ambit__key_command(key);

  if (key == 26) suspend(t);
  if (!command) return;
  if (!strcmp(command, "save")) {
    save(t);
  } else if (!strcmp(command, "help")) {
    t->help = !t->help;
    t->is_fresh = true;
  } else {
    pthread_mutex_lock(&t->viewer->lock);
    ambit__viewer_do(t->viewer, command);
    pthread_mutex_unlock(&t->viewer->lock);
  }
  t->drawn = -1;
}

/* Answers that ambit__terminal_ask has not waited for: a way to draw may become better. */
static void take_answer(terminal *t, const char *sequence, size_t n)
{
  if (t->viewer->viewing.screen != AMBIT__SCREEN_AUTO || n > sizeof t->answer - t->nanswer) return;
  memcpy(t->answer + t->nanswer, sequence, n);
  t->nanswer += n;
  if (!ambit__terminal_parse(t->answer, t->nanswer, &t->skills)) return;
  t->how = ambit__terminal_choose(&t->skills);
  t->rows = t->columns = 0; /* measured again, in other pixels */
}

/* ESC [ ... letter, ESC O letter, and strings: ESC _ ... ESC \ and the like. */
static bool is_whole(const char *sequence, size_t n)
{
  const unsigned char last = (unsigned char)sequence[n - 1];

  if (n < 3) return false;
  if (sequence[1] == 'O') return true;
  if (sequence[1] == '[') return last >= 0x40 && last <= 0x7e;
  return last == '\a' || (last == '\\' && sequence[n - 2] == '\033');
}

/* Sequences that are neither arrows nor answers are dropped. */
static void take_byte(terminal *t, unsigned char c)
{
  const double now = ambit__clock();
  size_t n;

  if (now - t->pending_since > ESCAPE_SECONDS || t->npending == sizeof t->pending) t->npending = 0;
  if (t->npending == 1 && (!c || !strchr("[O_P]", c))) t->npending = 0; /* Escape, then a key */
  if (!t->npending && c != '\033') {
    press(t, c);
    return;
  }
  t->pending_since = now;
  t->pending[t->npending++] = (char)c;
  if (!is_whole(t->pending, t->npending)) return;
  n = t->npending;
  t->npending = 0;
  if (n == 3 && t->pending[1] != '_' && c >= 'A' && c <= 'D')
    press(t, (unsigned char)(AMBIT__KEY_ARROW + c));
  else
    take_answer(t, t->pending, n);
}

/* False: the terminal is gone. */
static bool take_keys(terminal *t)
{
  unsigned char bytes[64];
  ssize_t n;

  while ((n = read(t->fd, bytes, sizeof bytes)) > 0)
    for (ssize_t i = 0; i < n; i++)
      take_byte(t, bytes[i]);
  return n == 0 || errno == EAGAIN || errno == EINTR;
}

/* ---- the thread ---- */

static bool is_old(terminal *t)
{
  ambit__viewer *v = t->viewer;
  bool old;

  pthread_mutex_lock(&v->lock);
  old = v->frame.number != t->drawn || v->changes != t->drawn_changes || t->is_fresh;
  pthread_mutex_unlock(&v->lock);
  return old || is_note_over(t);
}

static bool is_gone(ambit__viewer *v)
{
  bool gone;

  pthread_mutex_lock(&v->lock);
  gone = v->gone;
  pthread_mutex_unlock(&v->lock);
  return gone;
}

static void *show(void *user)
{
  terminal *t = user;
  struct pollfd fds[2] = {{.fd = t->fd, .events = POLLIN}, {.fd = t->wake[0], .events = POLLIN}};
  char drain[64];

  while (!atomic_load(&t->stops) && !is_gone(t->viewer)) {
    measure(t);
    if (!ambit__terminal_is_taken()) { /* a signal that did not end the process */
      nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
      ambit__terminal_enter(t->fd);
      t->is_fresh = true;
    }
    if (is_old(t)) {
      if (is_note_over(t)) *t->note = '\0';
      refresh(t);
    }
    poll(fds, 2, TICK);
    while (read(t->wake[0], drain, sizeof drain) > 0)
      ;
    if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) || !take_keys(t)) {
      pthread_mutex_lock(&t->viewer->lock);
      ambit__viewer_do(t->viewer, "quit");
      pthread_mutex_unlock(&t->viewer->lock);
    }
  }
  if (is_gone(t->viewer)) ambit__terminal_leave(); /* at once, on the key */
  return NULL;
}

static void start(terminal *t)
{
  const ambit__screen asked = t->viewer->viewing.screen;

  ambit__terminal_enter(t->fd);
  if (asked == AMBIT__SCREEN_AUTO || asked == AMBIT__SCREEN_KITTY || asked == AMBIT__SCREEN_SIXEL)
    t->skills = ambit__terminal_ask(t->fd);
  t->how = asked == AMBIT__SCREEN_AUTO ? ambit__terminal_choose(&t->skills) : asked;
  measure(t);
}

/* A thread with signals blocked, except for its own faults: others are for the program. */
static bool begin_thread(terminal *t)
{
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  sigset_t all, before;
  bool begun;

  sigfillset(&all);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    sigdelset(&all, own[i]);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  begun = !pthread_create(&t->thread, NULL, show, t);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return begun;
}

static void *open_terminal(ambit__viewer *v, char *why, size_t size)
{
  terminal *t = calloc(1, sizeof *t);

  if (!t) return NULL;
  t->viewer = v;
  t->fd = ambit__terminal_open(why, size);
  if (t->fd < 0) {
    free(t);
    return NULL;
  }
  if (pipe2(t->wake, O_NONBLOCK | O_CLOEXEC)) {
    snprintf(why, size, "there are too many open files");
    ambit__terminal_close(t->fd);
    free(t);
    return NULL;
  }
  start(t);
  if (begin_thread(t)) return t;
  ambit__terminal_close(t->fd);
  close(t->wake[0]);
  close(t->wake[1]);
  free(t);
  return NULL;
}

static void notify(void *reader)
{
  const terminal *t = reader;

  if (write(t->wake[1], "", 1) < 0) return; /* full: it is awake */
}

/* The last picture stays on the screen, above what the program has printed. */
static void keep_picture(terminal *t)
{
  ambit__viewer *v = t->viewer;
  ambit__text out = {0};
  char status[300];

  if (!v->frame.number || !v->frame.pixels.values) return;
  if (t->rows > 4) t->rows = t->rows > 26 ? 24 : t->rows - 2;
  ambit__frame_status(v, &v->frame, status, (size_t)(t->columns < 299 ? t->columns : 299));
  if (t->how == AMBIT__SCREEN_KITTY || t->how == AMBIT__SCREEN_SIXEL) t->how = AMBIT__SCREEN_BLOCKS;
  {
    const ambit__picture p = ambit__frame_picture(&v->frame, &v->style);

    draw_picture(t, &p, false, &out);
  }
  ambit__print(&out, "%s\r\n", status);
  if (!out.failed) ambit__terminal_print(t->fd, out.chars, out.len, 1);
  ambit__text_free(&out);
}

static void close_terminal(void *reader)
{
  terminal *t = reader;
  const bool shows = !is_gone(t->viewer);

  atomic_store(&t->stops, true);
  notify(t);
  pthread_join(t->thread, NULL);
  ambit__terminal_leave();
  if (shows) keep_picture(t);
  ambit__terminal_close(t->fd);
  close(t->wake[0]);
  close(t->wake[1]);
  free(t);
}

const ambit__reader_kind ambit__reader_terminal = {open_terminal, notify, close_terminal};
