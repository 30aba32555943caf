/* SPDX-License-Identifier: BSD-3-Clause */
/* manual.c - man pages, and completion for shells, from the tables that the parser and the help
 * use: `ambit help --man run`, `ambit completion bash`.
 */
#include "args.h"

#include "kernel/kernel.h"
#include "runtime/objects/objects.h"

#include <ctype.h>
#include <string.h>

/* ---- man pages ---- */

/* Text in roff: dashes that can be copied, backslashes as they are, no line that is a request. */
static void roff(const char *text, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if ((i == 0 || text[i - 1] == '\n') && strchr(".'", text[i])) printf("\\&");
    if (text[i] == '-')
      printf("\\-");
    else if (text[i] == '\\')
      printf("\\e");
    else
      putchar(text[i]);
  }
}

static void roff_line(const char *text)
{
  roff(text, strlen(text));
  putchar('\n');
}

/* Notes: a line that begins with a space keeps its layout, and "examples:" is a heading. */
static void roff_notes(const char *text)
{
  bool laid_out = false;
  bool begun = false; /* text stands after the heading */
  bool apart = false; /* an empty line stands after that text */

  for (size_t n; *text; text += n) {
    const bool spaced = *text == ' ';

    n = strcspn(text, "\n");
    if (!strncmp(text, "examples:\n", 10)) {
      puts(laid_out ? ".fi\n.SH EXAMPLES" : ".SH EXAMPLES");
      laid_out = begun = apart = false;
    } else if (n) {
      if (laid_out && !spaced) puts(".fi");
      if (begun && (apart || (spaced && !laid_out))) puts(".PP");
      if (spaced && !laid_out) puts(".nf");
      roff(text, n);
      putchar('\n');
      laid_out = spaced;
      begun = true;
      apart = false;
    } else {
      apart = true;
    }
    n += text[n] == '\n';
  }
  if (laid_out) puts(".fi");
}

static void roff_options(const tool_option *options)
{
  for (const tool_option *o = options; o->name; o++) {
    printf(".TP\n");
    if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    roff(o->name, strlen(o->name));
    printf("\\fR");
    if (o->value) printf(" \\fI%s\\fR", o->value);
    printf("\n");
    roff_line(o->about);
  }
}

static void roff_head(const char *command, const char *summary, const char *words)
{
  printf(".TH AMBIT");
  for (const char *c = command; *c; c++)
    putchar(toupper((unsigned char)*c));
  printf(" 1 \"\" \"Ambit %d.%d.%d\" \"User Commands\"\n.SH NAME\nambit%s \\- ",
         AMBIT_VERSION_MAJOR, AMBIT_VERSION_MINOR, AMBIT_VERSION_PATCH, command);
  roff_line(summary);
  printf(".SH SYNOPSIS\n\\fBambit %s\\fR ", command + (*command == '-'));
  roff_line(words);
}

int tool_manual(const tool_command *c)
{
  char name[32];

  snprintf(name, sizeof name, "-%s", c->name);
  roff_head(name, c->summary, c->words);
  if (c->options->name) puts(".SH OPTIONS");
  roff_options(c->options);
  puts(".SH DESCRIPTION");
  roff_notes(c->notes);
  puts(".SH SEE ALSO\n\\fBambit\\fR(1)");
  return TOOL_OK;
}

int tool_manual_overview(const char *summary, const char *notes)
{
  roff_head("", summary, "COMMAND [words and options]");
  puts(".SH COMMANDS");
  for (int i = 0; tool_command_at(i); i++) {
    printf(".TP\n\\fBambit-%s\\fR(1)\n", tool_command_at(i)->name);
    roff_line(tool_command_at(i)->summary);
  }
  puts(".SH DESCRIPTION");
  roff_notes(notes);
  puts(".SH ENVIRONMENT\nAn option of the library is also read from the environment:");
  for (int i = 0; ambit__options_name(i); i++) {
    printf("%s\\fBAMBIT_", i ? ", " : "");
    for (const char *s = ambit__options_name(i); *s; s++)
      putchar(*s == '-' ? '_' : toupper((unsigned char)*s));
    printf("\\fR");
  }
  puts(".\ndocs/options.md describes them.");
  return TOOL_OK;
}

/* ---- completion ---- */

/* The words of all options of a command; those that take a value, or all. */
static void bash_options(const tool_option *options, bool of_values)
{
  for (const tool_option *o = options; o->name; o++) {
    if (of_values && !o->value) continue;
    printf("%s--%s", o == options ? "" : " ", o->name);
    if (of_values && o->letter) printf(" -%c", o->letter);
  }
}

static void library_options(const char *before, const char *after)
{
  for (int i = 0; ambit__options_name(i); i++)
    printf("%s%s%s", before, ambit__options_name(i), after);
}

static void catalogue(void)
{
  for (int i = 0; ambit__catalogue_name(i); i++)
    printf("%s%s", i ? " " : "", ambit__catalogue_name(i));
}

/* Whether the first word of a command may be a stencil of the catalogue. */
static bool takes_stencil(const tool_command *c)
{
  return strstr(c->words, "NAME|") != NULL;
}

static void bash(void)
{
  printf("# bash completion for ambit; made by `ambit completion bash`\n"
         "_ambit()\n{\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options= values= "
         "words=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n    COMPREPLY=($(compgen -W '");
  for (int i = 0; tool_command_at(i); i++)
    printf("%s ", tool_command_at(i)->name);
  printf("help --help --version' -- \"$cur\"))\n    return\n  fi\n"
         "  case ${COMP_WORDS[1]} in\n");
  for (int i = 0; tool_command_at(i); i++) {
    const tool_command *c = tool_command_at(i);

    printf("  %s)\n    options='", c->name);
    bash_options(c->options, false);
    printf(" --help'\n    values=' ");
    bash_options(c->options, true);
    printf(" '\n");
    if (takes_stencil(c)) {
      printf("    words='");
      catalogue();
      printf("'\n");
    }
    printf("    ;;\n");
  }
  printf("  help)\n    words='");
  for (int i = 0; tool_command_at(i); i++)
    printf("%s%s", i ? " " : "", tool_command_at(i)->name);
  printf("'\n    ;;\n  esac\n"
         "  [ \"${values/ $prev /}\" = \"$values\" ] || return # a value: files\n"
         "  case $cur in\n"
         "  --ambit*)\n    compopt -o nospace 2>/dev/null\n    COMPREPLY=($(compgen -W '");
  library_options("--ambit-", "= ");
  printf("' -- \"$cur\"))\n    ;;\n"
         "  -*) COMPREPLY=($(compgen -W \"$options --ambit-\" -- \"$cur\")) ;;\n"
         "  *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
         "  esac\n}\n"
         "complete -o default -F _ambit ambit\n");
}

/* Text inside '...[...]:...' of _arguments. */
static void zsh_text(const char *text)
{
  for (; *text; text++)
    if (*text == '\'')
      printf("'\\''");
    else if (strchr("[]:\\", *text))
      printf("\\%c", *text);
    else
      putchar(*text == '\n' ? ' ' : *text);
}

static void zsh_option(const tool_option *o)
{
  printf("      ");
  if (o->letter)
    printf("'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, o->value ? "+" : "",
           o->name, o->value ? "=" : "");
  else
    printf("'--%s%s[", o->name, o->value ? "=" : "");
  zsh_text(o->about);
  printf("]");
  if (o->value) {
    printf(":");
    zsh_text(o->value);
    printf(":_files");
  }
  printf("' \\\n");
}

static void zsh(void)
{
  printf("#compdef ambit\n# zsh completion for ambit; made by `ambit completion zsh`\n"
         "_ambit()\n{\n  local -a commands library stencils\n  commands=(\n");
  for (int i = 0; tool_command_at(i); i++) {
    printf("    '%s:", tool_command_at(i)->name);
    zsh_text(tool_command_at(i)->summary);
    printf("'\n");
  }
  printf("  )\n  library=(");
  library_options("'--ambit-", "=[option of the library]' ");
  printf(")\n  stencils=(");
  catalogue();
  printf(")\n"
         "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  case $words[2] in\n");
  for (int i = 0; tool_command_at(i); i++) {
    const tool_command *c = tool_command_at(i);

    printf("  %s)\n    shift words; (( CURRENT-- ))\n    _arguments $library \\\n", c->name);
    for (const tool_option *o = c->options; o->name; o++)
      zsh_option(o);
    printf("      '--help[shows the usage]' '*: :{ %s_files }'\n    ;;\n",
           takes_stencil(c) ? "compadd -a stencils; " : "");
  }
  printf("  help) _describe command commands ;;\n  esac\n}\n"
         "if [ \"$funcstack[1]\" = _ambit ]; then _ambit \"$@\"; else compdef _ambit ambit; fi\n");
}

static int run(ambit *a, tool_args *args)
{
  const char *value, *shell = NULL;
  int id;

  (void)a;
  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_completion);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if (shell) return tool_wrong(args, "unexpected word '%s'", value);
    shell = value;
  }
  if (shell && !strcmp(shell, "bash"))
    bash();
  else if (shell && !strcmp(shell, "zsh"))
    zsh();
  else
    return tool_wrong(args, "the shell is '%s'; it must be bash or zsh", shell ? shell : "");
  return TOOL_OK;
}

static const tool_option no_options[] = {{0}};

const tool_command tool_completion = {
    .name = "completion",
    .words = "bash|zsh",
    .summary = "Prints the completion of commands and options for a shell.",
    .options = no_options,
    .notes = "Packages install it. Without a package, put the first line below in your ~/.bashrc,\n"
             "or write the text for zsh to a file _ambit in a folder of $fpath.\n"
             "\nexamples:\n"
             "  eval \"$(ambit completion bash)\"\n"
             "  ambit completion zsh > ~/.zfunc/_ambit\n",
    .run = run,
};
