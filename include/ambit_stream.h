/* SPDX-License-Identifier: BSD-3-Clause */
/* ambit_stream.h - streams: a program applied to one item after the other. */
#ifndef AMBIT_STREAM_H
#define AMBIT_STREAM_H

#include "ambit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stream applies a program to one item after the other: frames of a video, numbered pictures, or
 * arrays of a callback. For every item, the values of the item are stored in the field `in`, the
 * program runs, and the values of the field `out` are the result. Both fields may be the same.
 * Results come out in the order of the items. docs/streams.md has examples.
 *
 * Items are independent: for each, all other fields, all scalars and step() start as they are when
 * the stream is run. The user's own fields and scalars do not change.
 *
 * Reading, copying, computing and writing overlap. Lanes compute the items; each has its own copy
 * of the programs, on its own devices (option lanes). By default there is one lane, on the devices
 * of the context. Programs with a callback, with calls, points, histories, functions of the user or
 * fields on some axes cannot be streamed. */
typedef struct ambit_stream ambit_stream;

AMBIT_API ambit_stream *ambit_stream_create(ambit_program *p, ambit_field *in, ambit_field *out);
AMBIT_API void ambit_stream_destroy(ambit_stream *s);

/* A program on the same grid that runs once per item, before the other one. */
AMBIT_API ambit_status ambit_stream_before(ambit_stream *s, ambit_program *p);
/* Runs the program that often for each item, 1 if not set; or, as ambit_run_until does, until a
 * scalar meets a condition. */
AMBIT_API ambit_status ambit_stream_repeat(ambit_stream *s, int64_t iterations);
AMBIT_API ambit_status ambit_stream_repeat_until(ambit_stream *s, ambit_scalar *x,
                                                 ambit_condition when, double value, int64_t most);
/* The most items in memory at a time; 0, the default: two per worker, and two more. */
AMBIT_API ambit_status ambit_stream_in_flight(ambit_stream *s, int64_t items);
/* The planes of a video frame to compute; the others are copied. By default luma, and all planes of
 * a picture in red, green and blue. */
typedef enum ambit_planes { AMBIT_LUMA = 0, AMBIT_ALL_PLANES = 1 } ambit_planes;
AMBIT_API ambit_status ambit_stream_planes(ambit_stream *s, ambit_planes planes);

/* Runs the stream with callbacks. The source stores item number `item`, from 0, in a dense array of
 * the type and size of the field `in`, as ambit_field_write takes it; it returns 1 if there was an
 * item, 0 at the end, and a negative number if it failed. The sink gets the values of `out`, and
 * returns 0, or another number if it failed. Each is called in a thread of its own, and must not
 * use the context. If an item fails, those before it are still passed to the sink. With several
 * processes, source and sink are called on process 0, and the lanes of all processes compute. */
typedef int (*ambit_source_fn)(int64_t item, void *values, void *user);
typedef int (*ambit_sink_fn)(int64_t item, const void *values, void *user);
AMBIT_API ambit_status ambit_stream_run_with(ambit_stream *s, ambit_source_fn source,
                                             ambit_sink_fn sink, void *user);

/* Runs the stream from one file to another. A path is one of
 *   name.y4m       uncompressed video with 8 bits per sample, any file that ffmpeg can write
 *   name%04d.png   numbered pictures, grey or red, green and blue; or one, name.png
 *   -              Y4M on standard input or output
 * Grids are two-dimensional, and take the size of the frames; pictures may differ in size. Fields
 * have one component (a plane is an item) or, for pictures, as many as a pixel has. Samples are 0
 * to 255 in fields of any type; results are rounded, ties up, and clamped to this range. If a frame
 * fails, those before it are still written. */
AMBIT_API ambit_status ambit_stream_run(ambit_stream *s, const char *in, const char *out);

/* Ends a run early, from any thread: no more items are read, those in flight are written. */
AMBIT_API void ambit_stream_stop(ambit_stream *s);
AMBIT_API int64_t ambit_stream_items(const ambit_stream *s); /* written by the last run */
AMBIT_API int64_t ambit_stream_unmet(const ambit_stream *s); /* that missed their condition */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
