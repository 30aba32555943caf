/* SPDX-License-Identifier: BSD-3-Clause */
/* viewer.h - shows the runs of a context: what is shown, commands, and the latest picture.
 *
 * Two threads meet here: the one that computes takes pictures between iterations (viewer.c), and a
 * reader shows them, in the terminal or the browser. The reader says that it is ready for a picture
 * (`wants`); the next look takes it. All below `lock` is guarded by it. The computing thread waits
 * for the reader only while the run is paused.
 */
#ifndef AMBIT_VIEW_VIEWER_H
#define AMBIT_VIEW_VIEWER_H

#include "base/text.h"
#include "io/picture.h"
#include "view/pace.h"
#include "view/sample.h"

#include <pthread.h>

enum { AMBIT__HISTORY = 2048 }; /* most points of the plot of scalars */

/* A picture, as values, and the state of the run when it was taken. */
typedef struct ambit__frame {
  int64_t number;          /* 1, 2, ...; 0: there is none yet */
  int64_t changes;         /* of the viewer, when it was taken */
  int64_t scene;           /* number of the scene */
  int64_t iteration, goal; /* goal 0: not known */
  double per_second;       /* iterations; 0: not known */
  double cells;            /* updates per second */
  double share;            /* of the copy bandwidth, 0 to 1; less than 0: not known */
  bool ended;              /* the run is over */
  ambit__sight sight;
  ambit__pixels pixels;
  double scalars[AMBIT__SCENE_SCALARS];
} ambit__frame;

/* A point of the plot. */
typedef struct ambit__point {
  int64_t iteration;
  double lo, hi, scalars[AMBIT__SCENE_SCALARS];
} ambit__point;

struct ambit__viewer;

/* Where pictures are shown. */
typedef struct ambit__reader_kind {
  /* NULL: it cannot be opened, and `why` says the reason. */
  void *(*open)(struct ambit__viewer *v, char *why, size_t size);
  void (*notify)(
      void *reader); /* there is a new picture or state; from any thread, under the lock */
  void (*close)(void *reader); /* shows the last picture first */
} ambit__reader_kind;
extern const ambit__reader_kind ambit__reader_terminal, ambit__reader_http;

typedef struct ambit__viewer {
  ambit *context;
  ambit__viewing viewing; /* the option */
  const ambit__reader_kind *kind;
  void *reader;           /* NULL: none */
  bool tried;             /* to open it */
  bool off;               /* nobody looks any more: the same on all processes */
  ambit_program *program; /* that ran last; NULL: it is destroyed, or none ran */
  /* of the computing thread: */
  ambit__pace pace;
  double left_at;                 /* when the last look ended; 0: not in this run */
  int64_t left_iteration;         /* ... and the iteration then */
  double pictured;                /* when the last picture was taken */
  double cells, bytes, bandwidth; /* of an iteration; of a copy, per second, 0: not known */
  bool on_cores;                  /* the reader takes time from the computation */
  pthread_mutex_t lock;
  pthread_cond_t changed; /* for the computing thread: a command, a reader that is ready */
  ambit__scene scene;
  ambit__sight sight;
  ambit__picture_options style;  /* how values become colours; a range is fixed if lo < hi */
  bool paused, is_running, gone; /* gone: the reader has ended the view */
  int64_t steps;                 /* iterations to run one by one, while paused */
  int64_t held;                  /* iteration at which the run waits; -1: it runs */
  int64_t changes;               /* of sight, style and state */
  double acted;                  /* time of the last command */
  bool wants;
  int rows, columns; /* pixels that the reader can show */
  double served;     /* processor time of the reader since the last picture, in seconds */
  double *lent;      /* values of a frame that the reader uses without the lock, and then frees if
                        the frame is not the latest any more; NULL: none */
  ambit__frame frame;
  ambit__point history[AMBIT__HISTORY];
  int npoints, skipped, thinned; /* one of 2^thinned pictures is a point; skipped since the last */
} ambit__viewer;

/* ---- actions.c ---- */

/* Keys and commands; a command is "name" or "name=value". */
typedef struct ambit__key {
  char key; /* printable, or one of the arrows: 'A' up, 'B' down, 'C' right, 'D' left + 0x80 */
  const char *command, *help;
} ambit__key;
enum { AMBIT__KEY_ARROW = 0x80 };
extern const ambit__key ambit__keys[]; /* the last has no command */

/* Does a command, under the lock. False: there is no such command, or its value is wrong. */
bool ambit__viewer_do(ambit__viewer *v, const char *command);
const char *ambit__key_command(unsigned char key); /* NULL: none */

/* ---- viewer.c ---- */

/* Whether the run waits, and the picture is of the iteration at which it does. */
bool ambit__frame_is_held(const ambit__viewer *v, const ambit__frame *f);
/* The picture of a frame, to be coloured: shares its values. */
ambit__picture ambit__frame_picture(const ambit__frame *f, const ambit__picture_options *style);
/* "iteration 1200 of 5000  3.41 Gcells/s  61 % of copy  0:42 left  -0.2 ... 1.0", as much of it as
 * fits in so many characters. */
void ambit__frame_status(const ambit__viewer *v, const ambit__frame *f, char *text, size_t size);

#endif
