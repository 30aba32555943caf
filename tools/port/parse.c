/* SPDX-License-Identifier: BSD-3-Clause */
/* parse.c - from libclang's tree to our own.
 *
 * libclang shows the shape of the program and the types; literals are evaluated, so that numbers
 * out of macros are right. A `for` that leaves out one of its three expressions is recognised by
 * where the semicolons stand.
 */
#include "tree.h"

#include "base/file.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 }; /* of a program */

static ambit__arena arena;

void *port_new(size_t bytes)
{
  void *p = ambit__arena_alloc(&arena, bytes);

  if (!p) {
    fprintf(stderr, "ambit port: not enough memory\n");
    exit(1);
  }
  return p;
}

const char *port_text(const char *fmt, ...)
{
  va_list ap;
  int n;
  char *s;

  va_start(ap, fmt);
  n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  s = port_new((size_t)n + 1);
  va_start(ap, fmt);
  vsnprintf(s, (size_t)n + 1, fmt, ap);
  va_end(ap);
  return s;
}

void port_free_all(void)
{
  ambit__arena_free(&arena);
}

static const char *own(CXString s)
{
  const char *text = clang_getCString(s);
  const char *copy = port_text("%s", text ? text : "");

  clang_disposeString(s);
  return copy;
}

/* ---- types and symbols ---- */

value_type port_type_of(CXType t)
{
  t = clang_getCanonicalType(t);
  switch (t.kind) {
  case CXType_Float: return T_F32;
  case CXType_Double: return T_F64;
  case CXType_Int: return T_I32;
  case CXType_UChar: return T_U8;
  case CXType_Char_U: return T_U8; /* plain char, where it has no sign */
  case CXType_Short: return T_I16;
  case CXType_Long: return clang_Type_getSizeOf(t) == 8 ? T_I64 : T_I32;
  case CXType_LongLong: return T_I64;
  case CXType_Bool: return T_BOOL;
  case CXType_Char_S:
  case CXType_SChar: return T_I8;
  case CXType_UShort: return T_U16;
  case CXType_UInt: return T_U32;
  case CXType_ULong:
  case CXType_ULongLong: return T_INTEGER;
  case CXType_Enum: return port_type_of(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(t)));
  case CXType_Pointer: return T_POINTER;
  case CXType_ConstantArray:
  case CXType_IncompleteArray:
  case CXType_VariableArray: return T_ARRAY;
  case CXType_Record: return T_STRUCT;
  case CXType_Void: return T_VOID;
  default: return T_OTHER;
  }
}

static void place(unit *u, CXCursor c, node *n)
{
  const CXSourceRange r = clang_getCursorExtent(c);
  CXFile f0, f1, spelled;
  unsigned offset;

  clang_getExpansionLocation(clang_getRangeStart(r), &f0, &n->line, &n->column, &n->begin);
  if (u->written) n->line = port_line_in_file(u->written, n->begin, n->line);
  clang_getExpansionLocation(clang_getRangeEnd(r), &f1, NULL, NULL, &n->end);
  clang_getSpellingLocation(clang_getRangeStart(r), &spelled, NULL, NULL, &offset);
  n->is_macro = offset != n->begin || !clang_File_isEqual(spelled, f0);
  if (!clang_File_isEqual(f0, u->file) || !clang_File_isEqual(f1, u->file)) n->begin = n->end = 0;
}

static symbol *symbol_of(unit *u, CXCursor c)
{
  const unsigned h = clang_hashCursor(c) % 1024;
  symbol *s;
  CXFile file;
  enum CX_StorageClass storage;

  for (s = u->symbols[h]; s; s = s->next)
    if (clang_equalCursors(s->cursor, c)) return s;
  s = port_new(sizeof *s);
  s->name = own(clang_getCursorSpelling(c));
  s->cursor = c;
  s->ctype = clang_getCanonicalType(clang_getCursorType(c));
  s->type = port_type_of(s->ctype);
  s->is_param = clang_getCursorKind(c) == CXCursor_ParmDecl;
  storage = clang_Cursor_getStorageClass(c);
  s->is_global = clang_getCursorKind(c) == CXCursor_VarDecl &&
                 (storage == CX_SC_Static || storage == CX_SC_Extern ||
                  clang_getCursorKind(clang_getCursorSemanticParent(c)) != CXCursor_FunctionDecl);
  clang_getExpansionLocation(clang_getCursorLocation(c), &file, NULL, NULL, &s->offset);
  if (!clang_File_isEqual(file, u->file)) s->offset = 0;
  s->next = u->symbols[h];
  return u->symbols[h] = s;
}

/* ---- expressions ---- */

typedef struct children {
  CXCursor at[512];
  int n;
} children;

static enum CXChildVisitResult collect(CXCursor c, CXCursor parent, CXClientData data)
{
  children *list = data;

  (void)parent;
  if (list->n < 512) list->at[list->n++] = c;
  return CXChildVisit_Continue;
}

static children *children_of(CXCursor c)
{
  children *list = port_new(sizeof *list);

  clang_visitChildren(c, collect, list);
  return list;
}

static node *convert(unit *u, CXCursor c);

static void add(node *parent, node *child, node ***tail)
{
  if (!*tail) *tail = &parent->list;
  **tail = child;
  *tail = &child->next;
}

static void number(node *n, CXCursor c)
{
  CXEvalResult e = clang_Cursor_Evaluate(c);
  char digits[64];

  n->kind = N_OPAQUE;
  if (!e) return;
  if (clang_EvalResult_getKind(e) == CXEval_Int) {
    n->kind = N_NUMBER;
    n->is_constant = true;
    n->value = clang_EvalResult_getAsLongLong(e);
    n->text = port_text("%" PRId64 "%s", n->value,
                        n->type == T_I64 || n->value != (int32_t)n->value ? "L" : "");
  } else if (clang_EvalResult_getKind(e) == CXEval_Float) {
    const double x = clang_EvalResult_getAsDouble(e);

    n->kind = N_NUMBER;
    for (int p = 1; p <= 17; p++) {
      snprintf(digits, sizeof digits, "%.*g", p, x);
      if (n->type == T_F32 ? strtof(digits, NULL) == (float)x : strtod(digits, NULL) == x) break;
    }
    if (!strpbrk(digits, ".en")) strcat(digits, ".0");
    n->text = port_text("%s%s", digits, n->type == T_F32 ? "f" : "");
  }
  clang_EvalResult_dispose(e);
}

static void name(unit *u, node *n, CXCursor c)
{
  const CXCursor to = clang_getCursorReferenced(c);

  if (clang_getCursorKind(to) == CXCursor_EnumConstantDecl) {
    n->kind = N_NUMBER;
    n->is_constant = true;
    n->value = clang_getEnumConstantDeclValue(to);
    n->text = port_text("%" PRId64, n->value);
    n->type = T_I32;
    return;
  }
  n->kind = N_NAME;
  n->sym = symbol_of(u, to);
  n->text = n->sym->name;
}

static function *function_of(unit *u, CXCursor c)
{
  for (function *f = u->functions; f; f = f->next)
    if (clang_equalCursors(clang_getCanonicalCursor(f->cursor), clang_getCanonicalCursor(c)))
      return f;
  return NULL;
}

static void call(unit *u, node *n, CXCursor c)
{
  const int nargs = clang_Cursor_getNumArguments(c);
  const CXCursor to = clang_getCursorReferenced(c);
  node **tail = NULL;

  n->kind = N_CALL;
  n->text = own(clang_getCursorSpelling(c));
  n->callee = function_of(u, to);
  n->is_system = clang_Location_isInSystemHeader(clang_getCursorLocation(to)) != 0 ||
                 !strncmp(n->text, "__builtin", 9);
  if (!n->text[0] || clang_getCursorKind(to) != CXCursor_FunctionDecl) n->text = "";
  for (int i = 0; i < nargs; i++)
    add(n, convert(u, clang_Cursor_getArgument(c, (unsigned)i)), &tail);
}

static const char *unary_op(CXCursor c)
{
  const enum CXUnaryOperatorKind k = clang_getCursorUnaryOperatorKind(c);

  switch (k) {
  case CXUnaryOperator_PostInc: return "p++";
  case CXUnaryOperator_PostDec: return "p--";
  case CXUnaryOperator_PreInc: return "++";
  case CXUnaryOperator_PreDec: return "--";
  default: return own(clang_getUnaryOperatorKindSpelling(k));
  }
}

static void parts(unit *u, node *n, const children *list)
{
  node **tail = NULL;

  for (int i = 0; i < list->n; i++)
    if (!clang_isReference(clang_getCursorKind(list->at[i])))
      add(n, convert(u, list->at[i]), &tail);
}

static node *convert_expr(unit *u, CXCursor c)
{
  const enum CXCursorKind k = clang_getCursorKind(c);
  children *list = children_of(c);
  node *n = port_new(sizeof *n);

  place(u, c, n);
  n->ctype = clang_getCursorType(c);
  n->type = port_type_of(n->ctype);
  switch (k) {
  case CXCursor_ParenExpr:
  case CXCursor_UnexposedExpr:
    if (list->n == 1) {
      node *inner = convert(u, list->at[0]);

      if (inner->kind == N_OPAQUE || inner->is_macro) return inner;
      if (k == CXCursor_ParenExpr) return inner;
      return inner;
    }
    break;
  case CXCursor_IntegerLiteral:
  case CXCursor_FloatingLiteral:
  case CXCursor_CharacterLiteral:
  case CXCursor_UnaryExpr: number(n, c); return n;
  case CXCursor_DeclRefExpr: name(u, n, c); return n;
  case CXCursor_CallExpr: call(u, n, c); return n;
  case CXCursor_BinaryOperator:
  case CXCursor_CompoundAssignOperator:
    n->op = own(clang_getBinaryOperatorKindSpelling(clang_getCursorBinaryOperatorKind(c)));
    n->kind = k == CXCursor_CompoundAssignOperator || !strcmp(n->op, "=") ? N_ASSIGN : N_BINARY;
    n->a = convert(u, list->at[0]);
    n->b = convert(u, list->at[1]);
    return n;
  case CXCursor_UnaryOperator:
    n->kind = N_UNARY;
    n->op = unary_op(c);
    n->a = convert(u, list->at[0]);
    return n;
  case CXCursor_ConditionalOperator:
    n->kind = N_COND;
    n->a = convert(u, list->at[0]);
    n->b = convert(u, list->at[1]);
    n->c = convert(u, list->at[2]);
    return n;
  case CXCursor_CStyleCastExpr:
    n->kind = N_CAST;
    n->a = convert(u, list->at[list->n - 1]);
    return n;
  case CXCursor_ArraySubscriptExpr:
    n->kind = N_INDEX;
    n->a = convert(u, list->at[0]);
    n->b = convert(u, list->at[1]);
    return n;
  case CXCursor_MemberRefExpr:
    n->kind = N_MEMBER;
    n->text = own(clang_getCursorSpelling(c));
    if (!list->n) break;
    n->a = convert(u, list->at[0]);
    n->op = n->a->type == T_POINTER || n->a->type == T_ARRAY ? "->" : ".";
    return n;
  case CXCursor_InitListExpr:
    n->kind = N_LIST;
    parts(u, n, list);
    return n;
  default: break;
  }
  n->kind = N_OPAQUE;
  parts(u, n, list);
  return n;
}

/* ---- statements ---- */

/* Which of the three expressions of a `for` a child is, by the semicolons before it. */
static int part_of_for(const unit *u, const node *loop, const node *child)
{
  int depth = 0, part = 0;

  for (unsigned i = loop->begin; i < child->begin && i < u->size; i++) {
    depth += u->text[i] == '(';
    depth -= u->text[i] == ')';
    part += u->text[i] == ';' && depth == 1;
  }
  return part;
}

static void for_loop(unit *u, node *n, const children *list)
{
  node *parts3[3] = {NULL, NULL, NULL};

  n->kind = S_FOR;
  n->d = convert(u, list->at[list->n - 1]);
  for (int i = 0; i < list->n - 1; i++) {
    node *child = convert(u, list->at[i]);
    const int part = list->n == 4 ? i : part_of_for(u, n, child);

    if (part < 3) parts3[part] = child;
  }
  n->a = parts3[0];
  n->b = parts3[1];
  n->c = parts3[2];
}

static node *declaration(unit *u, CXCursor c)
{
  node *n = port_new(sizeof *n);
  const CXCursor init = clang_Cursor_getVarDeclInitializer(c);

  place(u, c, n);
  n->kind = N_DECL;
  n->sym = symbol_of(u, c);
  n->type = n->sym->type;
  n->ctype = n->sym->ctype;
  n->text = n->sym->name;
  if (!clang_Cursor_isNull(init)) n->a = convert(u, init);
  n->sym->init = n->a;
  return n;
}

static node *as_statement(node *n)
{
  node *s;

  if (!n || n->kind >= S_DECL) return n;
  s = port_node(S_EXPR, n);
  s->a = n;
  return s;
}

static node *convert(unit *u, CXCursor c)
{
  const enum CXCursorKind k = clang_getCursorKind(c);
  children *list;
  node *n, **tail = NULL;

  if (clang_isExpression(k)) return convert_expr(u, c);
  n = port_new(sizeof *n);
  place(u, c, n);
  list = children_of(c);
  n->type = T_VOID;
  switch (k) {
  case CXCursor_CompoundStmt:
    n->kind = S_BLOCK;
    for (int i = 0; i < list->n; i++) {
      node *child = as_statement(convert(u, list->at[i]));

      add(n, child, &tail);
    }
    return n;
  case CXCursor_DeclStmt:
    n->kind = S_DECL;
    for (int i = 0; i < list->n; i++)
      if (clang_getCursorKind(list->at[i]) == CXCursor_VarDecl)
        add(n, declaration(u, list->at[i]), &tail);
    return n;
  case CXCursor_IfStmt:
    n->kind = S_IF;
    n->a = convert(u, list->at[0]);
    if (list->n > 1) n->b = convert(u, list->at[1]);
    if (list->n > 2) n->c = convert(u, list->at[2]);
    break;
  case CXCursor_ForStmt: for_loop(u, n, list); break;
  case CXCursor_WhileStmt:
    n->kind = S_WHILE;
    n->a = convert(u, list->at[0]);
    n->d = convert(u, list->at[list->n - 1]);
    break;
  case CXCursor_DoStmt:
    n->kind = S_DO;
    n->d = convert(u, list->at[0]);
    n->a = convert(u, list->at[list->n - 1]);
    break;
  case CXCursor_ReturnStmt:
    n->kind = S_RETURN;
    if (list->n) n->a = convert(u, list->at[0]);
    return n;
  case CXCursor_BreakStmt: n->kind = S_BREAK; return n;
  case CXCursor_ContinueStmt: n->kind = S_CONTINUE; return n;
  case CXCursor_NullStmt: n->kind = S_NULL; return n;
  default:
    n->kind = S_OTHER;
    n->text = k == CXCursor_SwitchStmt    ? "switch"
              : k == CXCursor_CaseStmt    ? "case"
              : k == CXCursor_DefaultStmt ? "default"
                                          : NULL;
    for (int i = 0; i < list->n; i++)
      if (!clang_isReference(clang_getCursorKind(list->at[i]))) {
        node *part = convert(u, list->at[i]);

        add(n, i || k == CXCursor_DefaultStmt ? as_statement(part) : part, &tail);
      }
    return n;
  }
  n->b = n->kind == S_IF ? as_statement(n->b) : n->b;
  n->c = n->kind == S_IF ? as_statement(n->c) : n->c;
  n->d = as_statement(n->d);
  return n;
}

node *port_initializer(unit *u, const symbol *s)
{
  const CXCursor init = clang_Cursor_getVarDeclInitializer(s->cursor);

  return clang_Cursor_isNull(init) ? NULL : convert(u, init);
}

node *port_initial_number(unit *u, const symbol *s)
{
  node *n = port_new(sizeof *n);

  if (clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(s->cursor))) return NULL;
  place(u, s->cursor, n);
  n->ctype = s->ctype;
  n->type = s->type;
  number(n, s->cursor);
  return n->kind == N_NUMBER ? n : NULL;
}

/* ---- the unit ---- */

static enum CXChildVisitResult find_functions(CXCursor c, CXCursor parent, CXClientData data)
{
  unit *u = data;
  function *f;
  CXFile file;
  const int n = clang_Cursor_getNumArguments(c);

  (void)parent;
  if (clang_getCursorKind(c) != CXCursor_FunctionDecl || !clang_isCursorDefinition(c) ||
      clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
    return CXChildVisit_Continue;
  f = port_new(sizeof *f);
  f->name = own(clang_getCursorSpelling(c));
  f->cursor = c;
  f->is_external = clang_getCursorLinkage(c) == CXLinkage_External;
  f->nparams = n > 64 ? 64 : n;
  for (int i = 0; i < f->nparams; i++)
    f->params[i] = symbol_of(u, clang_Cursor_getArgument(c, (unsigned)i));
  clang_getExpansionLocation(clang_getRangeStart(clang_getCursorExtent(c)), &file, NULL, NULL,
                             &f->begin);
  f->is_editable = clang_File_isEqual(file, u->file);
  f->path = own(clang_getFileName(file));
  clang_getExpansionLocation(clang_getRangeEnd(clang_getCursorExtent(c)), NULL, NULL, NULL,
                             &f->end);
  clang_getExpansionLocation(clang_getCursorLocation(c), NULL, NULL, NULL, &f->name_at);
  if (u->last)
    u->last->next = f;
  else
    u->functions = f;
  u->last = f;
  return CXChildVisit_Continue;
}

static void read_bodies(unit *u)
{
  for (function *f = u->functions; f; f = f->next) {
    children *list = children_of(f->cursor);

    for (int i = 0; i < list->n; i++)
      if (clang_getCursorKind(list->at[i]) == CXCursor_CompoundStmt)
        f->body = convert(u, list->at[i]);
  }
}

/* Headers of another compiler may have attributes that libclang does not know; it goes on without
 * them. */
static bool is_mistake(CXDiagnostic d)
{
  const enum CXDiagnosticSeverity s = clang_getDiagnosticSeverity(d);

  return s == CXDiagnostic_Fatal ||
         (s == CXDiagnostic_Error &&
          !clang_Location_isInSystemHeader(clang_getDiagnosticLocation(d)));
}

static bool tell_errors(const unit *u)
{
  bool failed = false;

  for (unsigned i = 0; i < clang_getNumDiagnostics(u->tu); i++) {
    CXDiagnostic d = clang_getDiagnostic(u->tu, i);

    if (is_mistake(d)) {
      CXString s = clang_formatDiagnostic(d, clang_defaultDiagnosticDisplayOptions());

      fprintf(stderr, "%s\n", clang_getCString(s));
      clang_disposeString(s);
      failed = true;
    }
    clang_disposeDiagnostic(d);
  }
  return failed;
}

static int read_text(unit *u)
{
  ambit__errors errors = {0};
  char *text;

  if (ambit__file_read_text(&errors, u->path, MOST_BYTES, &text)) {
    fprintf(stderr, "ambit port: %s\n", errors.text ? errors.text : "not enough memory");
    ambit__errors_clear(&errors);
    return 1;
  }
  u->size = strlen(text);
  u->text = memcpy(port_new(u->size + 1), text, u->size + 1);
  free(text);
  return 0;
}

/* The flags of the compiler, for libclang: it finds the other headers of that compiler last, and
 * leaves directives of OpenMP and OpenACC alone. */
static int flags_for_clang(int nflags, const char *const *flags, const char **out)
{
  int n = 0;

  for (int i = 0; i < nflags; i++)
    if (!strncmp(flags[i], "-fopenmp", 8))
      out[n++] = "-D_OPENMP=201511";
    else if (strncmp(flags[i], "-fopenacc", 9) != 0)
      out[n++] = flags[i];
  if (port_compiler_headers()[0]) {
    out[n++] = "-idirafter";
    out[n++] = port_compiler_headers();
  }
  return n;
}

static int read_unit(unit *u, int nflags, const char *const *flags)
{
  const char **words = port_new((size_t)(nflags + 2) * sizeof *words);
  struct CXUnsavedFile given = {.Filename = u->path, .Contents = u->text, .Length = u->size};

  if (!u->text && read_text(u)) return 1;
  u->index = clang_createIndex(0, 0);
  nflags = flags_for_clang(nflags, flags, words);
  if (clang_parseTranslationUnit2(u->index, u->path, words, nflags, u->written ? &given : NULL,
                                  u->written != NULL, CXTranslationUnit_DetailedPreprocessingRecord,
                                  &u->tu) != CXError_Success) {
    fprintf(stderr, "ambit port: libclang cannot read %s\n", u->path);
    return 1;
  }
  if (tell_errors(u)) return 1;
  u->file = clang_getFile(u->tu, u->path);
  clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_functions, u);
  read_bodies(u);
  return 0;
}

unit *port_parse(const char *path, const written_out *written, int nflags, const char *const *flags,
                 int *code)
{
  unit *u = port_new(sizeof *u);

  u->path = path;
  u->text = written ? written->text : NULL;
  u->size = written ? strlen(written->text) : 0;
  u->written = written;
  *code = read_unit(u, nflags, flags);
  return u;
}

void port_unit_free(unit *u)
{
  if (u->tu) clang_disposeTranslationUnit(u->tu);
  if (u->index) clang_disposeIndex(u->index);
}
