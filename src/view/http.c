/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/http.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *ambit__http_reason(int status)
{
  switch (status) {
  case 200: return "OK";
  case 204: return "No Content";
  case 400: return "Bad Request";
  case 403: return "Forbidden";
  case 404: return "Not Found";
  case 405: return "Method Not Allowed";
  case 408: return "Request Timeout";
  case 413: return "Content Too Large";
  case 423: return "Locked";
  case 431: return "Request Header Fields Too Large";
  case 501: return "Not Implemented";
  case 505: return "HTTP Version Not Supported";
  default: return "Service Unavailable";
  }
}

/* Copies a value without the spaces around it; false: it is too long, or has control characters. */
static bool take(const char *from, size_t n, char to[AMBIT__HTTP_TEXT])
{
  while (n && (*from == ' ' || *from == '\t'))
    from++, n--;
  while (n && (from[n - 1] == ' ' || from[n - 1] == '\t'))
    n--;
  if (n >= AMBIT__HTTP_TEXT) return false;
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)from[i] < 32 || (unsigned char)from[i] > 126) return false;
  memcpy(to, from, n);
  to[n] = '\0';
  return true;
}

/* "GET /frame?after=1 HTTP/1.1" */
static int parse_request(const char *line, size_t n, ambit__http_head *h)
{
  const char *target = memchr(line, ' ', n), *version, *question;
  size_t length;

  if (!target) return -400;
  h->posts = target - line == 4 && !strncmp(line, "POST", 4);
  if (!h->posts && (target - line != 3 || strncmp(line, "GET", 3) != 0)) return -405;
  target++;
  length = n - (size_t)(target - line);
  version = memchr(target, ' ', length);
  if (!version || *target != '/') return -400;
  if (n - (size_t)(version + 1 - line) != 8 || strncmp(version + 1, "HTTP/1.", 7) != 0) return -505;
  if (version[8] != '1') h->closes = true;
  length = (size_t)(version - target);
  question = memchr(target, '?', length);
  if (!take(target, question ? (size_t)(question - target) : length, h->path)) return -431;
  if (question && !take(question + 1, (size_t)(version - question - 1), h->query)) return -431;
  return 0;
}

static bool is_named(const char *line, size_t colon, const char *name)
{
  return strlen(name) == colon && !strncasecmp(line, name, colon);
}

static int parse_length(const char *value, ambit__http_head *h)
{
  size_t n = 0;

  if (!*value || strlen(value) > 9) return -413;
  for (; *value; value++) {
    if (!isdigit((unsigned char)*value)) return -400;
    n = 10 * n + (size_t)(*value - '0');
  }
  if (n > AMBIT__HTTP_BODY) return -413;
  h->body = n;
  return 0;
}

/* A second Host or length is a way to smuggle requests; so are lengths in chunks. */
static int parse_field(const char *line, size_t n, ambit__http_head *h)
{
  const char *colon = memchr(line, ':', n);
  const size_t at = colon ? (size_t)(colon - line) : 0, rest = n - at - 1;
  char text[AMBIT__HTTP_TEXT];

  if (!at || line[0] == ' ' || line[0] == '\t' || line[at - 1] == ' ') return -400;
  if (is_named(line, at, "Transfer-Encoding")) return -501;
  if (is_named(line, at, "Host"))
    return *h->host || !take(colon + 1, rest, h->host) || !*h->host ? -400 : 0;
  if (is_named(line, at, "Origin"))
    return *h->origin || !take(colon + 1, rest, h->origin) || !*h->origin ? -400 : 0;
  if (is_named(line, at, "X-Ambit-Token"))
    return *h->token || !take(colon + 1, rest, h->token) ? -400 : 0;
  if (is_named(line, at, "X-Ambit-Client"))
    return *h->client || !take(colon + 1, rest, h->client) ? -400 : 0;
  if (is_named(line, at, "Content-Length"))
    return h->body || !take(colon + 1, rest, text) ? -400 : parse_length(text, h);
  if (is_named(line, at, "Connection") && take(colon + 1, rest, text) && !strcasecmp(text, "close"))
    h->closes = true;
  return 0;
}

int ambit__http_parse(const char *bytes, size_t n, ambit__http_head *head)
{
  size_t at = 0;

  *head = (ambit__http_head){0};
  for (int line = 0;; line++) {
    const char *end = memchr(bytes + at, '\n', n - at);
    const size_t length = end ? (size_t)(end - bytes) - at : 0;
    int s;

    if (!end) return n >= AMBIT__HTTP_HEAD ? -431 : 0;
    if (at + length >= AMBIT__HTTP_HEAD) return -431;
    if (!length || bytes[at + length - 1] != '\r' || memchr(bytes + at, '\0', length)) return -400;
    if (length == 1) return line ? (int)(at + 2) : -400;
    s = line ? parse_field(bytes + at, length - 1, head)
             : parse_request(bytes + at, length - 1, head);
    if (s) return s;
    at += length + 1;
  }
}

bool ambit__http_is_local(const char *host)
{
  static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const size_t n = strlen(names[i]);
    const char *port = host + n;

    if (strncasecmp(host, names[i], n) != 0) continue;
    if (!*port) return true;
    if (*port == ':' && port[1] && strlen(port) <= 6 &&
        strspn(port + 1, "0123456789") == strlen(port + 1))
      return true;
  }
  return false;
}

bool ambit__http_is_same_origin(const char *origin, const char *host)
{
  return !*origin || (!strncmp(origin, "http://", 7) && !strcasecmp(origin + 7, host));
}

bool ambit__http_is_token(const char *given, const char token[AMBIT__HTTP_TOKEN + 1])
{
  const size_t n = strlen(given);
  unsigned differ = (unsigned)(n ^ AMBIT__HTTP_TOKEN);

  for (size_t i = 0; i < AMBIT__HTTP_TOKEN; i++)
    differ |= (unsigned)(unsigned char)(i < n ? given[i] : 0) ^ (unsigned)(unsigned char)token[i];
  return !differ;
}

long long ambit__http_number(const char *query, const char *name)
{
  const size_t n = strlen(name);

  for (const char *at = query; at && *at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL)
    if (!strncmp(at, name, n) && at[n] == '=' && isdigit((unsigned char)at[n + 1]) &&
        strspn(at + n + 1, "0123456789") < 19)
      return atoll(at + n + 1);
  return -1;
}
