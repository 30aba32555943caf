/* SPDX-License-Identifier: BSD-3-Clause */
/* ast.h - the syntax tree between parsing and unrolling, and the state shared by the stages.
 *
 * parse creates nodes; check assigns types to nodes and symbols to names; unroll interprets the
 * checked tree, executing its loops, and emits ambit__expr and ambit__stmt. During unrolling the
 * slots of a symbol hold the state of a local: its constant value, or the current local of the
 * rule.
 *
 * Everything is allocated in the arena of the translation unit. Running out of memory and exceeding
 * the number of mistakes leave the front end by longjmp, so no stage checks its allocations.
 */
#ifndef AMBIT_KERNEL_AST_H
#define AMBIT_KERNEL_AST_H

#include "kernel/token.h"

#include <setjmp.h>

enum {
  AMBIT_MAX_TEXT = 1 << 24,       /* bytes of kernel text */
  AMBIT_MAX_NESTING = 200,        /* of brackets, blocks and conditions: bounds the recursion */
  AMBIT_MAX_EXPR_DEPTH = 5000,    /* of an expression: a sum of that many terms */
  AMBIT_MAX_NAME = 240,           /* characters of a name */
  AMBIT_MAX_COMPONENTS = 4096,    /* of a field, and elements of a local array */
  AMBIT_MAX_TABLES = 49152,       /* bytes of all tables of a kernel */
  AMBIT_MAX_OFFSET = 1000,        /* cells along one axis */
  AMBIT_MAX_UNROLLED = 250 * 1000 /* operations, statements and loop iterations after unrolling */
};

typedef enum ambit__symbol_kind {
  SYMBOL_FIELD,
  SYMBOL_VALUE,
  SYMBOL_REDUCE,
  SYMBOL_TABLE,
  SYMBOL_LOCAL,   /* const or not, array or not; or a parameter of a function */
  SYMBOL_LOOP,    /* the variable of a for */
  SYMBOL_FUNCTION /* a static function */
} ambit__symbol_kind;

/* The state of one element of a local during unrolling. */
typedef struct ambit__slot {
  bool is_constant;
  ambit__value value; /* if constant */
  int local;          /* index in the rule, if not constant */
} ambit__slot;

typedef struct ambit__symbol {
  ambit__symbol_kind kind;
  ambit__name *name;
  ambit_type type;
  bool is_const;
  bool is_parameter;                  /* of a function */
  bool is_set;                        /* some statement assigns to it */
  const struct ambit__helper *helper; /* SYMBOL_FUNCTION */
  bool is_vector;                     /* field with components */
  int param;                          /* in the rule, of a parameter or a table; set by unroll */
  bool is_ready;                      /* false inside its own initialiser */
  int naxes;                          /* subscripts of an array or table: 0, 1 or 2 */
  int64_t size[2];                    /* of a local array or a reduction, set by unroll */
  /* an array parameter of a function that stands for a table: its symbol; else NULL */
  const struct ambit__symbol *table;
  const struct ambit__expr *row; /* ... for one row of it; NULL: the whole table */
  ambit__slot *slots;            /* size[0] * size[1] of them, or 1; NULL before the declaration */
  ambit__place place;            /* of the declaration */
  int depth;                     /* of its scope */
  struct ambit__symbol *shadow;  /* outer symbol of the same name */
  struct ambit__symbol *older;   /* symbol declared before this one, among those in scope */
} ambit__symbol;

typedef enum ambit__syntax_kind {
  SYNTAX_NUMBER, /* value */
  SYNTAX_ACCESS, /* symbol, subs, is_deref: k  *u  u[1][0]  *f[3]  f[3][0][1]  t[2] */
  SYNTAX_UNARY,  /* op a */
  SYNTAX_BINARY, /* a op b */
  SYNTAX_COND,   /* a ? b : c */
  SYNTAX_CAST,   /* (type)a */
  SYNTAX_CALL    /* name(subs) */
} ambit__syntax_kind;

typedef struct ambit__syntax {
  ambit__syntax_kind kind;
  ambit__op op; /* SYNTAX_UNARY, SYNTAX_BINARY; EXPR_CAST means unary plus */
  ambit__place place;
  ambit_type type;     /* of the value; set by check, except SYNTAX_NUMBER and SYNTAX_CAST */
  ambit_type operands; /* type that operands and arguments are converted to; set by check */
  bool is_wrong;       /* reported; has no type */
  bool is_deref;       /* SYNTAX_ACCESS: preceded by '*' */
  int height;          /* of the subtree, up to AMBIT_MAX_EXPR_DEPTH */
  struct ambit__syntax *a, *b, *c;
  ambit__value value;         /* SYNTAX_NUMBER */
  ambit__name *name;          /* SYNTAX_ACCESS, SYNTAX_CALL */
  ambit__symbol *symbol;      /* SYNTAX_ACCESS; SYNTAX_CALL of a static function; set by check */
  int function;               /* SYNTAX_CALL: an ambit__call, or an ambit__op if is_place */
  bool is_place;              /* SYNTAX_CALL: index(), extent() or step(); set by check */
  bool is_statement;          /* SYNTAX_CALL: its value is not used */
  int nsubs;                  /* SYNTAX_ACCESS: subscripts; SYNTAX_CALL: arguments */
  struct ambit__syntax *subs; /* list of them */
  struct ambit__syntax *next; /* in that list */
} ambit__syntax;

/* An initialiser: an expression or a list in braces. */
typedef struct ambit__init {
  ambit__place place;
  ambit__syntax *value;     /* NULL: a list */
  struct ambit__init *list; /* first element; NULL: empty */
  struct ambit__init *next;
} ambit__init;

typedef enum ambit__line_kind {
  LINE_DECL,
  LINE_SET,
  LINE_IF,
  LINE_FOR,
  LINE_BLOCK,
  LINE_CALL,  /* of a function without a value: value */
  LINE_RETURN /* of a function: value */
} ambit__line_kind;

/* A statement of the syntax tree. */
typedef struct ambit__line {
  ambit__line_kind kind;
  ambit__place place;
  /* LINE_DECL, LINE_FOR: the declared variable */
  ambit__name *name;
  ambit_type type;
  bool is_const;
  int naxes;
  ambit__syntax *size[2]; /* NULL: the length of the initialiser */
  ambit__init *init;      /* NULL: none */
  ambit__symbol *symbol;  /* set by check */
  /* LINE_SET: target = value. LINE_IF: value. LINE_FOR: name op value; name += step */
  ambit__syntax *target;
  ambit__syntax *value;
  ambit__syntax *step;              /* LINE_FOR; NULL: 1 */
  ambit__op op;                     /* LINE_FOR: the comparison */
  bool is_down;                     /* LINE_FOR: the step is subtracted */
  struct ambit__line *body, *other; /* lists */
  struct ambit__line *next;
} ambit__line;

/* A static function of the syntax tree, whose calls are replaced by its body; or constants, which
 * all functions and kernels after them see. */
typedef struct ambit__helper {
  ambit__name *name;      /* NULL: constants, */
  ambit__line *constants; /* LINE_DECL */
  ambit__place place;
  ambit_type type; /* of the value it returns */
  bool is_void;    /* it returns none */
  bool is_library; /* it is a function of the language (library.c) */
  int nparams;
  ambit__line *params; /* LINE_DECL without values */
  ambit__line *body;   /* the last one is its only LINE_RETURN; is_void: it has none */
  struct ambit__helper *next;
} ambit__helper;

/* A parameter of the syntax tree. */
typedef struct ambit__head {
  ambit__name *name;
  ambit__place place;
  ambit__param_kind kind;
  ambit__reduce reduce;
  ambit__name *function; /* REDUCE_FOLD: its name */
  ambit__place function_place;
  ambit__syntax *identity;
  const ambit__helper *helper; /* set by check */
  ambit_type type;
  bool is_const, is_vector;
  ambit__syntax *components; /* of a vector */
  int naxes;                 /* of a table */
  ambit__syntax *size[2];
  ambit__symbol *symbol; /* set by check */
} ambit__head;

/* A kernel of the syntax tree. */
typedef struct ambit__kernel_node {
  ambit__name *name;
  ambit__place name_place;
  ambit__head heads[AMBIT_MAX_PARAMS];
  int nheads;
  ambit__line *body;
  ambit__helper *last; /* function or constants before it; NULL: none */
  struct ambit__kernel_node *next;
} ambit__kernel_node;

/* What join.c makes one rule of: as the arguments of ambit__rule_join. */
typedef struct ambit__joining {
  int n;
  const ambit__rule *const *rules;
  const int (*param)[AMBIT_MAX_PARAMS];
} ambit__joining;

/* A translation unit: the state of one run of the front end. */
typedef struct ambit__unit {
  jmp_buf stop;           /* target of ambit__unit_stop */
  bool no_memory;         /* the reason: out of memory */
  const ambit_type *real; /* the type `real`; NULL: there is none */
  const char *text;       /* lex: the rule's, or that of the language's own functions */
  const char *wanted;     /* name of the kernel to read; NULL: the first */
  int axes;               /* of the grid; -1: not known */
  unsigned onto;          /* bit h: head h is one reduction onto a field, of several components; */
  unsigned binned;        /* ... some of its subscripts are computed; */
  unsigned computed;      /* unroll: ... they are, though `binned` does not say so */
  bool is_single;         /* lex: the text uses `real`, which is float */
  ambit__arena arena;     /* everything that is freed when the rule is complete */
  ambit__diag diag;
  ambit__rule *rule; /* under construction */
  int line;          /* lex: current line, which starts at byte `line_start` */
  int line_start;
  ambit__name **names; /* lex: hash table */
  size_t nnames, names_cap;
  ambit__name *newest;
  ambit__token *tokens; /* lex: ends with TOKEN_END */
  size_t ntokens, tokens_cap;
  size_t at;                   /* parse: next token */
  int depth;                   /* parse: nesting depth. check: scope depth */
  bool panic;                  /* parse: suppress messages until the next statement */
  ambit__helper *helpers;      /* parse: in the order of the text */
  bool in_helper;              /* parse: inside one of them */
  ambit__kernel_node *kernels; /* parse: in the order of the text */
  ambit__kernel_node *kernel;  /* parse: the present one. Later: the one that is read */
  bool in_library;             /* lex, parse: of the language's own functions */
  const ambit__place *call;    /* unroll: of such a function; NULL: in the user's text */
  ambit__symbol *symbols;      /* check: symbols in scope, newest first */
  ambit__place ndims_place;    /* check: the access that determined rule->ndims */
  ambit__expr *returned;       /* unroll: by the current function */
  int work;                    /* unroll: operations so far, up to AMBIT_MAX_UNROLLED */
  const ambit__stmt **tail;    /* unroll: where to append the next statement */
  size_t locals_cap;
  const ambit__joining *joining;        /* join */
  size_t amounts_cap[AMBIT_MAX_PARAMS]; /* unroll: of those of a parameter */
  /* unroll: by local of the rule, that of the user's text, for messages */
  const ambit__symbol **origins;
  size_t origins_cap;
} ambit__unit;

/* The stages. */
void ambit__lex(ambit__unit *u);
void ambit__library(ambit__unit *u); /* adds functions of the language that the text calls */
void ambit__parse(ambit__unit *u);
void ambit__check(ambit__unit *u);
void ambit__unroll(ambit__unit *u);
void ambit__join(ambit__unit *u); /* instead of the stages so far */
void ambit__footprint(ambit__unit *u);
/* The flow of values in the function of a reduction. The rule lends its list of locals. */
void ambit__footprint_folder(ambit__unit *u, const ambit__folder *f);

/* unit.c: zeroed memory from the arena of the unit or of the rule; never NULL. */
void *ambit__unit_new(ambit__unit *u, size_t n, size_t size);
void *ambit__rule_new(ambit__unit *u, size_t n, size_t size);
/* A copy of a name, in the arena of the rule. */
const char *ambit__rule_text(ambit__unit *u, const ambit__name *n);
/* Makes room for one more element in an array in an arena; returns the array, possibly moved. */
void *ambit__unit_grow(ambit__unit *u, ambit__arena *arena, void *array, size_t count, size_t *cap,
                       size_t size);
/* Reports a mistake, and stops the front end when there are too many. */
#define AMBIT_WRONG(u, place, ...)                                                                 \
  (ambit__complain(&(u)->diag, place, __VA_ARGS__), ambit__unit_told(u))
/* The same, after which nothing can be said of the rest. */
#define AMBIT_FATAL(u, place, ...)                                                                 \
  (ambit__complain(&(u)->diag, place, __VA_ARGS__), ambit__unit_stop(u))
void ambit__unit_told(ambit__unit *u);
_Noreturn void ambit__unit_stop(ambit__unit *u);

/* lex.c: the tokens of u->text, without more meaning; whether a type stands before token i, perhaps
 * with a star: float half, const float *half. */
void ambit__lex_text(ambit__unit *u);
bool ambit__is_declared(const ambit__unit *u, size_t i);

/* library.c: the float form of a function of the language. */
const ambit__helper *ambit__library_single(const ambit__unit *u, const ambit__helper *h);

/* names.c */
ambit__name *ambit__name_of(ambit__unit *u, const char *text, size_t length);
/* A name for generated code that differs from all locals, parameters, words and functions of the
 * language, and names with a reserved prefix; `wanted` if possible. */
const char *ambit__name_unique(ambit__unit *u, const char *wanted);
void ambit__name_release(ambit__unit *u, const char *unique); /* to be given again */
/* "; did you mean 'x'?" from the names in scope, or from the functions; "" if none is close. */
const char *ambit__name_hint(ambit__unit *u, const char *text, bool functions);
/* A line that says how a macro or an enum constant gets into a kernel, if the name is in capitals,
 * as theirs are; else "". */
const char *ambit__macro_hint(const char *text);

/* functions.c: the functions that a kernel may call. */
typedef struct ambit__known_call {
  const char *name;
  int function;  /* an ambit__call; or if is_place, EXPR_INDEX, EXPR_EXTENT, EXPR_STEP or EXPR_LOR,
                      which means outside(), EXPR_TABLE, coefficient(), or EXPR_CONST, the number of
                      the cell */
  bool is_place; /* index(), extent(), step(), outside() */
  ambit_type type; /* of the result, and of the arguments unless is_place */
  int nargs;       /* -1: one per axis */
} ambit__known_call;
const ambit__known_call *ambit__known_call_find(const char *name);
const ambit__known_call *ambit__known_call_at(int i); /* NULL past the end */
/* INFINITY, M_PI and so on. */
bool ambit__constant_find(const char *name, ambit_type *type, ambit__value *value);

/* operators.c: binary operators. */
typedef struct ambit__operator {
  ambit__token_kind sign; /* a + b */
  ambit__token_kind set;  /* a += b; TOKEN_END if there is none */
  ambit__op op;
  const char *text;
  int rank; /* precedence; higher binds tighter */
} ambit__operator;
const ambit__operator *ambit__operator_of(ambit__op op); /* NULL if not a binary operator */
const ambit__operator *ambit__operator_sign(ambit__token_kind sign);
const ambit__operator *ambit__operator_set(ambit__token_kind set);

/* tokens.c: the tokens of the parser. */
const ambit__token *ambit__peek(const ambit__unit *u, size_t ahead);
const ambit__token *ambit__next(ambit__unit *u);
const ambit__token *ambit__last(const ambit__unit *u); /* the one before peek(0) */
bool ambit__at(const ambit__unit *u, ambit__token_kind kind);
bool ambit__accept(ambit__unit *u, ambit__token_kind kind);
bool ambit__expect(ambit__unit *u, ambit__token_kind kind, const char *where);
ambit__name *ambit__expect_name(ambit__unit *u, const char *what);
void ambit__nest(ambit__unit *u); /* one level deeper; undo with u->depth-- */
ambit__place ambit__span(ambit__place from, ambit__place to);
bool ambit__starts_type(const ambit__token *t);
ambit_type ambit__parse_type(ambit__unit *u, bool *is_const);

/* type_names.c: a name where a type must stand. */
#define AMBIT__TYPES_TEXT                                                                          \
  "the types are float, double, int, short, long, the same with unsigned, unsigned char, half "    \
  "and "                                                                                           \
  "bfloat"
void ambit__wrong_type(ambit__unit *u, ambit__place place); /* reports it, with a suggestion */
/* Whether the name `ahead` can only be meant as a type: another name, or a star and a name, follow.
 */
bool ambit__at_wrong_type(const ambit__unit *u, size_t ahead);
/* The same at a '(', for the name behind it: (real)x or (real *)u. */
bool ambit__at_wrong_cast(const ambit__unit *u);

/* targets.c: a component of a field at an offset, for messages: "f[3][0][1]" */
const char *ambit__cell_name(ambit__unit *u, int param, int component, const int *offset);

/* print.c: static float name(float a, float b) { ... } */
void ambit__folder_print(const ambit__folder *f, const char *name, ambit__text *t);

/* Reports a syntax error, unless the parser is still recovering from one. */
#define AMBIT_SYNTAX(u, place, ...)                                                                \
  do {                                                                                             \
    if (!(u)->panic) AMBIT_WRONG(u, place, __VA_ARGS__);                                           \
    (u)->panic = true;                                                                             \
  } while (0)

/* parse_stmt.c and parse_expr.c */
ambit__line *ambit__parse_block(ambit__unit *u);
ambit__line *ambit__parse_declaration(ambit__unit *u); /* lines of LINE_DECL */
/* parse_function.c: a static function, or constants. false: none begins here. */
bool ambit__parse_helper(ambit__unit *u);
ambit__syntax *ambit__parse_expr(ambit__unit *u);
ambit__syntax *ambit__parse_unary(ambit__unit *u);
ambit__syntax *ambit__syntax_node(ambit__unit *u, ambit__syntax_kind kind, ambit__place place,
                                  ambit__syntax *a, ambit__syntax *b, ambit__syntax *c);

/* check_expr.c */
void ambit__check_expr(ambit__unit *u, ambit__syntax *n);
void ambit__check_target(ambit__unit *u, ambit__syntax *n);
ambit_type ambit__common_type(ambit_type a, ambit_type b);

/* make_expr.c: makes typed expressions, and evaluates constant ones. */
ambit__expr *ambit__fold(ambit__unit *u, const ambit__syntax *n);
ambit__expr *ambit__fold_as(ambit__unit *u, const ambit__syntax *n, ambit_type type);
ambit__expr *ambit__fold_cast(ambit__unit *u, ambit__expr *a, ambit_type type);
ambit__expr *ambit__fold_truth(ambit__unit *u, const ambit__syntax *n);
/* Evaluates a constant integer, the `kind` ("offset") of `name`. If not constant, reports it and
 * returns false. */
bool ambit__fold_integer(ambit__unit *u, const ambit__syntax *n, const char *kind, const char *name,
                         int64_t *value);
/* The value of a local of the rule. */
ambit__expr *ambit__fold_local(ambit__unit *u, ambit_type type, ambit__place place, int local);
/* The current state of a local; if the subscripts are wrong, reports it and returns NULL. */
ambit__slot *ambit__fold_slot(ambit__unit *u, const ambit__syntax *n);
/* The parameter of the rule that a value of a reduction is; if invalid, reports it and returns
 * false. */
bool ambit__fold_reduction(ambit__unit *u, const ambit__syntax *n, int *param, int *component);
/* Of a reduction with computed subscripts: the component that an access means, as a value of the
 * type of the parameter; its number of components: none. NULL: it is wrong, which was reported. */
ambit__expr *ambit__fold_bin(ambit__unit *u, const ambit__syntax *n);
ambit__expr *ambit__fold_minus(ambit__unit *u, ambit__expr *a);
/* The component and offsets of a field access; if invalid, reports it and returns false. */
bool ambit__fold_cell(ambit__unit *u, const ambit__syntax *n, int *component, int *offset);
/* The first subscript of an access of a table. */
ambit__expr *ambit__fold_row(ambit__unit *u, const ambit__syntax *n);
/* unroll.c: a new local with a value. */
ambit__expr *ambit__unroll_local(ambit__unit *u, ambit__name *name, ambit_type type,
                                 const ambit__expr *value, ambit__place place);
/* unroll.c: the value of a call of a static function, whose statements are emitted before; NULL if
 * it has none. */
ambit__expr *ambit__unroll_call(ambit__unit *u, const ambit__syntax *n);
/* The value of `yes` or `no`, as a condition says, in a local that an if sets: functions in them
 * are computed under the condition. */
ambit__expr *ambit__unroll_choice(ambit__unit *u, const ambit__expr *condition,
                                  const ambit__syntax *yes, const ambit__syntax *no,
                                  ambit_type type);
void ambit__unroll_work(ambit__unit *u, ambit__place place); /* counts one operation */

#endif
