/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/objects/journal.h"

#include <string.h>

static const char *const words[] = {
#define X(name, text) text,
    AMBIT__ENTRY_MAP(X)
#undef X
};

/* An entry: its kind in a byte, the number of its bytes in 8, the bytes. */
bool ambit__journal_replay(ambit__errors *errors, ambit__journal *j, ambit__entry kind, void *bytes,
                           size_t n)
{
  ambit__tape *t = &j->tape;
  unsigned char found = 0;
  int64_t length;

  if (!j->replays || j->inside) return false;
  if (t->at == t->n) {
    ambit__raise(errors, AMBIT_EPROGRAM,
                 "the program %s where the run of the checkpoint %s ran a program: it is not the "
                 "one that was interrupted, or it depends on more than its input; start it with "
                 "--ambit-resume=no",
                 words[kind], j->from);
    if (n) memset(bytes, 0, n);
    return true;
  }
  ambit__tape_get(t, &found, 1);
  length = ambit__tape_get_number(t);
  ambit__tape_get(t, bytes, n);
  if (t->failed || found != (unsigned char)kind || length != (int64_t)n)
    ambit__raise(errors, AMBIT_EPROGRAM,
                 "the program %s, where the run of the checkpoint %s %s%s: it is not the one that "
                 "was interrupted, or it depends on more than its input; start it with "
                 "--ambit-resume=no",
                 words[kind], j->from, found < sizeof words / sizeof *words ? words[found] : "ends",
                 found == (unsigned char)kind ? " of another size" : "");
  return true;
}

void ambit__journal_record(ambit__journal *j, ambit__entry kind, const void *bytes, size_t n)
{
  const unsigned char byte = (unsigned char)kind;

  if (!j->records || j->replays || j->inside || j->is_full) return;
  j->is_full = n > AMBIT__JOURNAL_BYTES - j->tape.n || j->tape.failed;
  if (j->is_full) return;
  ambit__tape_put(&j->tape, &byte, 1);
  ambit__tape_put_number(&j->tape, (int64_t)n);
  ambit__tape_put(&j->tape, bytes, n);
}
