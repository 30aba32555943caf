/* SPDX-License-Identifier: BSD-3-Clause */
/* http.h - the little of HTTP/1.1 that the page needs: heads of requests, checked.
 *
 * A request must name a loopback host, so that a site whose name was bound to 127.0.0.1 gets
 * nothing, and its origin, if it has one, must be that host. Everything is limited.
 */
#ifndef AMBIT_VIEW_HTTP_H
#define AMBIT_VIEW_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum {
  AMBIT__HTTP_HEAD = 8192, /* most bytes of a head */
  AMBIT__HTTP_BODY = 256,  /* ... and of a body: a command */
  AMBIT__HTTP_TEXT = 128,  /* ... and of a value that is kept */
  AMBIT__HTTP_TOKEN = 32   /* hexadecimal digits */
};

typedef struct ambit__http_head {
  bool posts; /* POST, else GET */
  char path[AMBIT__HTTP_TEXT], query[AMBIT__HTTP_TEXT];
  char host[AMBIT__HTTP_TEXT], origin[AMBIT__HTTP_TEXT]; /* "": none */
  char token[AMBIT__HTTP_TEXT], client[AMBIT__HTTP_TEXT];
  size_t body;
  bool closes; /* the connection, after the answer */
} ambit__http_head;

/* Parses the head of a request. Returns its length; 0: it is not complete; less than 0: the
 * negative status to answer with, and the connection ends. */
int ambit__http_parse(const char *bytes, size_t n, ambit__http_head *head);

/* 127.0.0.1, localhost or [::1], with any port: it may be forwarded. */
bool ambit__http_is_local(const char *host);
/* No origin, or "http://" and the host. */
bool ambit__http_is_same_origin(const char *origin, const char *host);
/* Compares all digits of a token, whichever differ, and its length. */
bool ambit__http_is_token(const char *given, const char token[AMBIT__HTTP_TOKEN + 1]);
/* The number of a parameter in a query, "after=12&rows=3"; less than 0: there is none. */
long long ambit__http_number(const char *query, const char *name);
const char *ambit__http_reason(int status);

#endif
