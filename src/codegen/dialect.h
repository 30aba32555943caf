/* dialect.h - what differs between the languages code is written in: one table each. */
#ifndef AMBIT_CODEGEN_DIALECT_H
#define AMBIT_CODEGEN_DIALECT_H

#include "base/text.h"
#include "kernel/kernel.h"

typedef struct ambit__dialect {
  const char *name;        /* "c" */
  const char *extension;   /* of files: ".c" */
  const char *prelude;     /* fixed text at the head of every file: names for what follows it */
  const char *helpers;     /* more of it, behind the arithmetic of all languages; NULL: none */
  const char *types[6];    /* by ambit_type */
  const char *infinity[2]; /* float, double */
  const char *nan[2];
  bool float_names; /* the square root of a float is sqrtf(x), as in C; else sqrt(x) */
  bool wraps;       /* + - * of signed integers may overflow, and wrap; else helpers must do it */
  /* GPUs only */
  const char *stream; /* what the strategy stream calls; NULL: lanes cannot exchange values */
  const char *strict; /* text that a strict file needs; "" none */
  const char *kernel; /* before a kernel's return type */
  const char *global; /* before the type of something in device memory */
  const char *shared; /* before an array that the threads of a block share */
  const char *shared_pointer; /* before the type a pointer into it points at */
  const char *unaliased;      /* after the * of a pointer that nothing else overlaps */
  const char *barrier;        /* waits for all threads of the block */
  const char *thread[3];      /* this thread in its block, x first, as a signed number */
  const char *block[3];       /* this block among all, as a 64-bit number */
  const char *blocks[3];      /* how many there are, as a 64-bit number */
} ambit__dialect;

extern const ambit__dialect ambit__dialect_c, ambit__dialect_cuda, ambit__dialect_opencl;

/* The fixed text at the head of every file: the prelude, then the helpers that expressions call. */
void ambit__dialect_print(const ambit__dialect *d, ambit__text *t);

#endif
