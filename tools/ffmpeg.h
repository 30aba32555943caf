/* SPDX-License-Identifier: BSD-3-Clause */
/* ffmpeg.h - video formats other than Y4M, through the program ffmpeg and a pipe.
 *
 * ffmpeg gets an array of arguments, no shell, and a process group of its own, so that Ctrl-C stops
 * the stream and not the programs at its ends.
 */
#ifndef AMBIT_TOOLS_FFMPEG_H
#define AMBIT_TOOLS_FFMPEG_H

#include "ambit.h"
#include "base/undo.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct tool_ffmpeg {
  const char *file; /* that the user named */
  char *beside;     /* output: the temporary file */
  int fd;           /* the end of the pipe in this process; -1: none */
  int words;        /* a file in memory with the messages of ffmpeg; -1: none */
  pid_t child;      /* 0: none */
  ambit__undo undo; /* a second Ctrl-C kills it and removes the temporary file */
} tool_ffmpeg;

/* Whether a stream of the library can read and write the file itself, with `other` at its other
 * end. One picture beside a video has to get the colours of videos, by ffmpeg. */
bool tool_is_stream_file(const char *path, const char *other);

ambit_status tool_ffmpeg_read(ambit *a, const char *file, tool_ffmpeg *f);
/* `options` of ffmpeg, separated by blanks, for the output; NULL: none. */
ambit_status tool_ffmpeg_write(ambit *a, const char *file, const char *options, tool_ffmpeg *f);
/* Closes the pipe and waits for ffmpeg. Output, `keep`: it becomes visible; false: the stream
 * failed before it had a frame. Returns false if ffmpeg could not write it, with the reason as the
 * error of the context; if that has one already, printed in its place. Input, `keep`: raises an
 * error if ffmpeg failed, or complained, as it does about files that are cut off; false: the stream
 * ended before its input did, and ffmpeg is killed. */
bool tool_ffmpeg_end(ambit *a, tool_ffmpeg *f, bool keep);

#endif
