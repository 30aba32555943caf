/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h - the C program as the translator sees it: a small tree, made from libclang's.
 *
 * Every node keeps where it comes from (offsets into the main file, and a line and column for
 * messages), so that any later stage can point a caret or replace text. Implicit conversions are
 * left out: the kernel language converts as C does. Parentheses are not kept either; the printer
 * puts them where they are needed.
 */
#ifndef AMBIT_PORT_TREE_H
#define AMBIT_PORT_TREE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum value_type { /* types of expressions; the first six are those of the kernel language,
                             the next four are kept in those of the same width */
                          T_F32,
                          T_F64,
                          T_I32,
                          T_U8,
                          T_I16,
                          T_I64,
                          T_BOOL,
                          T_I8,
                          T_U16,
                          T_U32,
                          T_INTEGER, /* any other integer: unsigned long, size_t ... */
                          T_POINTER,
                          T_ARRAY,
                          T_STRUCT,
                          T_VOID,
                          T_OTHER
} value_type;

typedef enum node_kind {
  N_NUMBER, /* text; value if it is an integer */
  N_NAME,   /* sym */
  N_BINARY, /* op a b; op is the spelling */
  N_UNARY,  /* op a: - + ! ~ * & and ++ -- (prefix), p++ p-- (postfix) */
  N_COND,   /* a ? b : c */
  N_CAST,   /* (type)a */
  N_CALL,   /* text is the function's name; args in list */
  N_INDEX,  /* a[b] */
  N_MEMBER, /* a.text, or a->text if op is "->" */
  N_ASSIGN, /* a op b: = += -= ... */
  N_LIST,   /* { ... }: list */
  N_OPAQUE, /* any other expression; list has its parts */
  S_DECL,   /* list of N_DECL */
  N_DECL,   /* sym, a is the initializer or NULL */
  S_EXPR,   /* a */
  S_IF,     /* a: b else c */
  S_FOR,    /* a: init, b: condition, c: step, d: body */
  S_WHILE,  /* a: condition, d: body */
  S_DO,
  S_BLOCK,  /* list */
  S_RETURN, /* a or NULL */
  S_BREAK,
  S_CONTINUE,
  S_NULL,
  S_OTHER /* switch, goto, label, asm: list has the parts */
} node_kind;

typedef struct symbol symbol;
typedef struct function function;

typedef struct node {
  node_kind kind;
  const char *op, *text;
  value_type type;
  CXType ctype; /* of expressions */
  struct node *a, *b, *c, *d, *list, *next;
  symbol *sym;
  function *callee; /* of a call, when its body is known */
  bool is_system;   /* of a call: declared in a header of the system */
  bool is_constant; /* value is known */
  int64_t value;
  unsigned begin,
      end; /* offsets in the main file, a macro counting as its use; both 0: not there */
  unsigned line, column;
  bool is_macro;         /* it begins or ends inside a macro */
  struct access *access; /* analysis: the element of an array that this is */
  struct poly *poly;     /* analysis: the integer that this is, in loop variables and invariants */
} node;

struct symbol {
  const char *name;
  CXCursor cursor;
  CXType ctype; /* canonical */
  value_type type;
  bool is_global, is_param;
  bool is_late;         /* results of steps come when the host reads it: numbers.c */
  bool is_private;      /* no step uses the memory that it leads to: uses.c */
  bool is_place;        /* not a variable: the name is an expression, *sum */
  node *init;           /* of a declaration */
  const node *constant; /* the real number that it always is; NULL: none, or not asked for */
  bool is_asked;        /* that was */
  unsigned offset;      /* of the declaration in the main file; 0: elsewhere */
  symbol *next;
};

struct function {
  const char *name;
  CXCursor cursor;
  int nparams;
  symbol *params[64];
  node *body;
  bool is_editable;           /* its text stands in the main file */
  const char *path;           /* of the file where it stands */
  unsigned begin, end;        /* of the whole definition */
  unsigned name_at;           /* where its name stands */
  int depth;                  /* of inlining that is under way */
  bool has_steps;             /* itself, or a function that it calls */
  const node *round;          /* a loop with steps in it, that calls it; NULL: none */
  bool is_told;               /* a note about its file was given */
  const struct pragma *about; /* a directive around one of its calls */
  bool is_external;           /* other files may call it */
  struct function *real;      /* it stands for this function of another file; NULL: for none */
  function *next;
};

typedef struct unit {
  const char *path; /* of the main file */
  const char *text; /* of the main file */
  size_t size;
  const struct written_out *written; /* the text is this one; NULL: it is that of the file */
  function *functions, *last;
  function *others; /* of other files, that it calls */
  struct pragma *pragmas;
  struct told_shape *shapes; /* that directives told */
  struct outcome *result;    /* how many nests were translated */
  struct edit *edits;        /* changes of the text */
  int nedits, room;
  symbol *symbols[1024]; /* by hash */
  CXIndex index;
  CXTranslationUnit tu;
  CXFile file;
  struct unit *next; /* of the program */
} unit;

/* Reads a program; reports its mistakes on standard error, and sets *code then. written: its text,
 * NULL: as in the file. flags: of the compiler. */
unit *port_parse(const char *path, const struct written_out *written, int nflags,
                 const char *const *flags, int *code);
void port_unit_free(unit *u);
/* link.c: calls of functions of the other files find them. */
void port_link(unit *units);
/* The function itself, where f stands for one of another file. */
function *port_real(function *f);

/* macro.c: the text of a program, uses of macros that make loops written out. */
typedef struct written_part {
  unsigned begin, end, line; /* of the text; where the use begins in the file */
  int more;                  /* lines that the text has and the file has not */
} written_part;

typedef struct written_out {
  const char *text;
  int n;
  written_part *parts; /* in order */
} written_out;

/* NULL: there are no such macros, or there is no preprocessor. */
const written_out *port_without_macros(const unit *u, int nflags, const char *const *flags);
/* The line of the file, from an offset and a line of the text. */
unsigned port_line_in_file(const written_out *w, unsigned offset, unsigned line);

/* compiler.c: the output of $CC, or cc, with these arguments; NULL: it failed. free() it. And the
 * folder of the headers that it brings itself: omp.h; "": not known. */
char *port_compiler_run(int nwords, const char *const *words);
const char *port_compiler_headers(void);

/* From the arena of the run; ends the program when memory runs out. */
void *port_new(size_t bytes);
const char *port_text(const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;
void port_free_all(void);

/* The initializer of a variable, or NULL; and the number that it is, or NULL. */
node *port_initializer(unit *u, const symbol *s);
node *port_initial_number(unit *u, const symbol *s);

value_type port_type_of(CXType t);
bool port_is_integer(value_type t);
node *port_node(node_kind kind, const node *like); /* with the place of another */
node *port_name(symbol *s, const node *like);      /* the use of a symbol, at such a place */
node *port_number(int64_t value, const node *like);
node *port_copy_tree(const node *n);

/* C text of an expression, fit to stand beside any operator. */
const char *port_print(const node *n);

/* Calls fn for a node and everything below it, parents first; stops where fn returns false. */
void port_walk(node *n, bool (*fn)(node *n, void *user), void *user);
/* Whether anything below n, n included, satisfies fn. */
node *port_find(node *n, bool (*fn)(node *n, void *user), void *user);
/* n without casts between integers and without conversions to the same kind of value. */
node *port_bare(node *n);

#endif
