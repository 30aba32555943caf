/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c - the page, pictures and commands over HTTP, for a browser here or through ssh.
 *
 * One thread serves a few connections with poll. It listens on 127.0.0.1 or a Unix socket only. All
 * but the page itself needs the token, a random number in the printed address, which the page sends
 * in a header: other sites cannot. One client controls the run, the first that gives a command,
 * until it is silent for some seconds or another takes over. A connection that sends or takes
 * nothing for some seconds is closed; so is one that sends more than a request may have.
 */
#define _GNU_SOURCE /* pipe2, accept4, getrandom */
#include "view/answers.h"
#include "view/http.h"

#include "base/clock.h"
#include "base/undo.h"
#include "device/cpu/pool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

extern const char ambit__page[]; /* embedded by the build */

enum {
  CONNECTIONS = 16,
  INPUT = AMBIT__HTTP_HEAD + AMBIT__HTTP_BODY,
  LEAST_SIDE = 16, /* pixels that a page can ask for */
  MOST_SIDE = 1600,
  TICK = 500 /* ms */
};
#define HEAD_SECONDS   10.0 /* for a request to arrive */
#define IDLE_SECONDS   60.0 /* between requests */
#define SEND_SECONDS   15.0 /* without a byte that the other side takes */
#define WAIT_SECONDS   10.0 /* for a picture; then there is an empty answer */
#define WRITER_SECONDS 5.0  /* a silent client loses control */
#define CLOSE_SECONDS  2.0  /* for the last picture to be asked for and taken */
#define NONCE          "AMBIT_NONCE_AMBIT_NONCE_AMBIT_NO" /* in the page; as long as a token */

typedef struct connection {
  int fd; /* -1: free */
  char in[INPUT + 1];
  size_t nin;
  ambit__text out;
  size_t sent;
  bool closes; /* after the answer */
  bool waits;  /* for a picture after number `after` */
  int64_t after;
  double since; /* time of the last progress */
  double asked; /* when it began to wait */
  char client[AMBIT__HTTP_TEXT];
} connection;

typedef struct server {
  ambit__viewer *viewer;
  int listener, wake[2];
  pthread_t thread;
  atomic_bool stops;
  char token[AMBIT__HTTP_TOKEN + 1], path[AMBIT__VIEWING_PATH];
  ambit__undo undo; /* removes the socket */
  char writer[AMBIT__HTTP_TEXT];
  double written; /* when the writer was last heard of */
  int64_t shown;  /* number of the last picture that somebody got */
  connection all[CONNECTIONS];
} server;

/* ---- answers ---- */

static void begin_answer(connection *c, int status, const char *type, size_t length)
{
  ambit__print(&c->out, "HTTP/1.1 %d %s\r\n", status, ambit__http_reason(status));
  if (status != 204)
    ambit__print(&c->out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, length);
  ambit__print(&c->out,
               "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
               "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
               "X-Frame-Options: DENY\r\n%s",
               c->closes ? "Connection: close\r\n" : "");
}

static void answer(connection *c, int status, const char *type, const char *body, size_t n)
{
  begin_answer(c, status, type, n);
  ambit__print(&c->out, "\r\n");
  if (status != 204) ambit__print_chars(&c->out, body, n);
}

static void answer_text(connection *c, int status, const char *text)
{
  answer(c, status, "text/plain; charset=utf-8", text, strlen(text));
}

static void refuse(connection *c, int status)
{
  c->closes = true;
  answer_text(c, status, ambit__http_reason(status));
}

static bool make_random(char digits[AMBIT__HTTP_TOKEN + 1])
{
  unsigned char bytes[AMBIT__HTTP_TOKEN / 2];

  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
  return true;
}

/* The page may run its own script only, and talk to this server only. */
static void answer_page(connection *c)
{
  char nonce[AMBIT__HTTP_TOKEN + 1];
  const size_t n = strlen(ambit__page);
  char *page = strdup(ambit__page);

  if (!page || !make_random(nonce)) {
    refuse(c, 503);
  } else {
    for (char *at = page; (at = strstr(at, NONCE)); at += AMBIT__HTTP_TOKEN)
      memcpy(at, nonce, AMBIT__HTTP_TOKEN);
    begin_answer(c, 200, "text/html; charset=utf-8", n);
    ambit__print(&c->out,
                 "Content-Security-Policy: default-src 'none'; script-src 'nonce-%s'; style-src "
                 "'nonce-%s'; connect-src 'self'; img-src data: blob:; media-src blob:; base-uri "
                 "'none'; form-action 'none'; frame-ancestors 'none'\r\n\r\n",
                 nonce, nonce);
    ambit__print_chars(&c->out, page, n);
  }
  free(page);
}

static bool is_writer(const server *s, const char *client)
{
  return *client && !strcmp(client, s->writer);
}

/* The computing thread goes on while the values are printed. */
static void print_values(ambit__viewer *v, const ambit__values *values, ambit__text *out)
{
  double *lent = v->lent = v->frame.pixels.values;

  pthread_mutex_unlock(&v->lock);
  ambit__answer_values(values, out);
  pthread_mutex_lock(&v->lock);
  v->lent = NULL;
  if (v->frame.pixels.values != lent) free(lent);
}

static void answer_frame(server *s, connection *c)
{
  ambit__values values;
  ambit__text line = {0};

  c->waits = false;
  s->shown = s->viewer->frame.number;
  ambit__answer_frame(s->viewer, !*s->writer || is_writer(s, c->client), &line, &values);
  if (line.failed) {
    refuse(c, 503);
  } else {
    begin_answer(c, 200, "application/octet-stream", line.len + 2 * (size_t)values.n);
    ambit__print(&c->out, "\r\n");
    ambit__print_chars(&c->out, line.chars, line.len);
    print_values(s->viewer, &values, &c->out);
  }
  ambit__text_free(&line);
}

/* ---- requests ---- */

static int within(long long n, int least, int most)
{
  return n < least ? least : n > most ? most : (int)n;
}

/* The reader is as large as the one who controls, or the last one if nobody does. */
static void ask_frame(server *s, connection *c, const ambit__http_head *h)
{
  ambit__viewer *v = s->viewer;
  const long long rows = ambit__http_number(h->query, "rows");
  const long long columns = ambit__http_number(h->query, "columns");

  if (rows > 0 && columns > 0 && (!*s->writer || is_writer(s, h->client))) {
    const int r = within(rows, LEAST_SIDE, MOST_SIDE), k = within(columns, LEAST_SIDE, MOST_SIDE);

    if (r != v->rows || k != v->columns) v->changes++;
    v->rows = r;
    v->columns = k;
  }
  if (!v->rows) v->rows = v->columns = 512;
  c->waits = true;
  c->after = ambit__http_number(h->query, "after");
  c->asked = ambit__clock();
  snprintf(c->client, sizeof c->client, "%s", h->client);
}

static void take_control(server *s, const ambit__http_head *h)
{
  snprintf(s->writer, sizeof s->writer, "%s", h->client);
  s->written = ambit__clock();
}

static void do_command(server *s, connection *c, const ambit__http_head *h, const char *command)
{
  if (!*h->client) {
    answer_text(c, 400, "the header X-Ambit-Client is missing");
  } else if (!strcmp(command, "take")) {
    take_control(s, h);
    answer(c, 204, "", "", 0);
  } else if (*s->writer && !is_writer(s, h->client)) {
    answer_text(c, 423, "another page controls the run");
  } else {
    take_control(s, h);
    if (ambit__viewer_do(s->viewer, command))
      answer(c, 204, "", "", 0);
    else
      answer_text(c, 400, "there is no such command, or its value is wrong");
  }
}

static void serve(server *s, connection *c, const ambit__http_head *h, const char *body)
{
  ambit__text text = {0};

  c->closes = h->closes;
  if (!ambit__http_is_local(h->host) || !ambit__http_is_same_origin(h->origin, h->host)) {
    refuse(c, 403);
  } else if (!strcmp(h->path, "/") && !h->posts) {
    answer_page(c);
  } else if (!ambit__http_is_token(h->token, s->token)) {
    refuse(c, 403);
  } else if (h->posts != !strcmp(h->path, "/do")) {
    answer_text(c, strcmp(h->path, "/do") != 0 && !h->posts ? 404 : 405, "");
  } else if (h->posts) {
    do_command(s, c, h, body);
  } else if (!strcmp(h->path, "/scene")) {
    ambit__answer_scene(s->viewer, &text);
    if (text.failed)
      refuse(c, 503);
    else
      answer(c, 200, "application/json", text.chars, text.len);
    ambit__text_free(&text);
  } else if (!strcmp(h->path, "/frame")) {
    ask_frame(s, c, h);
  } else {
    answer_text(c, 404, ambit__http_reason(404));
  }
  if (is_writer(s, h->client)) s->written = ambit__clock();
}

/* Serves the requests that have arrived whole, one answer at a time. */
static void take_requests(server *s, connection *c)
{
  while (c->nin && !c->out.len && !c->waits && !c->closes) {
    ambit__http_head h;
    char body[AMBIT__HTTP_BODY + 1];
    const int head = ambit__http_parse(c->in, c->nin, &h);
    size_t all;

    if (head < 0) {
      refuse(c, -head);
      return;
    }
    all = (size_t)head + h.body;
    if (!head || c->nin < all) return;
    memcpy(body, c->in + head, h.body);
    body[h.body] = '\0';
    serve(s, c, &h, strlen(body) == h.body ? body : "");
    c->nin -= all;
    memmove(c->in, c->in + all, c->nin);
  }
}

/* ---- connections ---- */

static void end_connection(connection *c)
{
  if (c->fd >= 0) close(c->fd);
  ambit__text_free(&c->out);
  c->fd = -1;
}

static void accept_one(server *s)
{
  static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                             "Connection: close\r\n\r\n";
  const int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

  if (fd < 0) return;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  for (int i = 0; i < CONNECTIONS; i++)
    if (s->all[i].fd < 0) {
      s->all[i] = (connection){.fd = fd, .since = ambit__clock()};
      return;
    }
  if (send(fd, full, sizeof full - 1, MSG_NOSIGNAL) < 0) errno = 0;
  close(fd);
}

static bool receive(connection *c)
{
  const ssize_t n = recv(c->fd, c->in + c->nin, INPUT - c->nin, 0);

  if (n > 0) {
    if (!c->nin) c->since = ambit__clock();
    c->nin += (size_t)n;
  }
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool transmit(connection *c)
{
  const ssize_t n = send(c->fd, c->out.chars + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

  if (n > 0) {
    c->sent += (size_t)n;
    c->since = ambit__clock();
  }
  if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
  if (c->sent < c->out.len) return true;
  c->sent = 0;
  ambit__text_free(&c->out);
  return !c->closes;
}

static bool is_late(const connection *c, double now)
{
  const double limit = c->out.len ? SEND_SECONDS : c->nin ? HEAD_SECONDS : IDLE_SECONDS;

  return !c->waits && now - c->since > limit;
}

/* Answers those that wait, if there is a picture for them. */
static void show_frames(server *s, double now)
{
  ambit__viewer *v = s->viewer;

  if (*s->writer && now - s->written > WRITER_SECONDS + WAIT_SECONDS) *s->writer = '\0';
  for (int i = 0; i < CONNECTIONS; i++) {
    connection *c = &s->all[i];

    if (c->fd < 0 || !c->waits) continue;
    if (v->frame.number && v->frame.number > c->after) {
      answer_frame(s, c);
    } else if (now - c->asked > WAIT_SECONDS) {
      c->waits = false;
      answer(c, 204, "", "", 0);
    } else if (!v->wants) {
      v->wants = true;
      pthread_cond_signal(&v->changed);
    }
    if (!c->waits) c->since = now;
  }
}

static void work(server *s, const struct pollfd *fds)
{
  const double now = ambit__clock(), start = ambit__clock_thread();
  char drain[64];

  while (read(s->wake[0], drain, sizeof drain) > 0)
    ;
  for (int i = 0; i < CONNECTIONS; i++) {
    connection *c = &s->all[i];
    const short events = fds[i + 2].fd == c->fd ? fds[i + 2].revents : 0;
    bool lives = !(events & (POLLERR | POLLNVAL));

    if (c->fd < 0) continue;
    if (lives && events & (POLLIN | POLLHUP)) lives = c->nin < INPUT ? receive(c) : false;
    if (!lives || is_late(c, now)) end_connection(c);
  }
  pthread_mutex_lock(&s->viewer->lock);
  for (int i = 0; i < CONNECTIONS; i++)
    if (s->all[i].fd >= 0) take_requests(s, &s->all[i]);
  show_frames(s, now);
  pthread_mutex_unlock(&s->viewer->lock);
  for (int i = 0; i < CONNECTIONS; i++)
    if (s->all[i].fd >= 0 && s->all[i].out.len && !transmit(&s->all[i])) end_connection(&s->all[i]);
  pthread_mutex_lock(&s->viewer->lock);
  s->viewer->served += ambit__clock_thread() - start;
  pthread_mutex_unlock(&s->viewer->lock);
}

/* Those that wait get the last picture, however late the thread is. */
static void finish(server *s)
{
  pthread_mutex_lock(&s->viewer->lock);
  show_frames(s, ambit__clock());
  for (int i = 0; i < CONNECTIONS; i++)
    if (s->all[i].fd >= 0 && s->all[i].out.len) transmit(&s->all[i]);
  pthread_mutex_unlock(&s->viewer->lock);
}

static void *run(void *user)
{
  server *s = user;

  while (!atomic_load(&s->stops)) {
    struct pollfd fds[CONNECTIONS + 2] = {{.fd = s->listener, .events = POLLIN},
                                          {.fd = s->wake[0], .events = POLLIN}};
    bool hurry = false;

    for (int i = 0; i < CONNECTIONS; i++) {
      const connection *c = &s->all[i];

      /* input that is not read yet waits, so that answers cannot pile up */
      fds[i + 2] = (struct pollfd){.fd = c->fd};
      if (!c->out.len && c->nin < INPUT) fds[i + 2].events |= POLLIN;
      if (c->out.len) fds[i + 2].events |= POLLOUT;
      hurry |= c->fd >= 0 && c->waits;
    }
    poll(fds, CONNECTIONS + 2, hurry ? 50 : TICK);
    if (fds[0].revents & POLLIN) accept_one(s);
    work(s, fds);
  }
  finish(s);
  return NULL;
}

/* ---- opening and closing ---- */

static void remove_socket(void *user)
{
  server *s = user;

  if (*s->path) unlink(s->path);
}

/* A socket that a killed program left behind is replaced; other files are not. */
static int listen_unix(const char *path, char *why, size_t size)
{
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct stat is;
  mode_t mask;
  int bound;

  snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
  if (!lstat(path, &is) && S_ISSOCK(is.st_mode) && connect(fd, (struct sockaddr *)&at, sizeof at) &&
      errno == ECONNREFUSED)
    unlink(path);
  mask = umask(0177); /* for this user only */
  bound = bind(fd, (struct sockaddr *)&at, sizeof at);
  umask(mask);
  if (!bound && !listen(fd, CONNECTIONS)) return fd;
  snprintf(why, size, "the socket %s cannot be used: %s", path, strerror(errno));
  close(fd);
  return -1;
}

static int listen_tcp(int port, char *why, size_t size)
{
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
  if (!bind(fd, (struct sockaddr *)&at, sizeof at) && !listen(fd, CONNECTIONS)) return fd;
  snprintf(why, size, "port %d of 127.0.0.1 cannot be used: %s", port, strerror(errno));
  close(fd);
  return -1;
}

static void print_address(const server *s)
{
  struct sockaddr_in at;
  socklen_t n = sizeof at;

  if (*s->path)
    fprintf(stderr,
            "ambit: the run is shown at the socket %s: ssh -L 8080:%s HOST, then "
            "http://localhost:8080/#%s\n",
            s->path, s->path, s->token);
  else if (!getsockname(s->listener, (struct sockaddr *)&at, &n))
    fprintf(stderr, "ambit: the run is shown at http://127.0.0.1:%d/#%s\n", ntohs(at.sin_port),
            s->token);
}

static bool start(server *s, char *why, size_t size)
{
  const ambit__viewing *asked = &s->viewer->viewing;

  if (!make_random(s->token) || pipe2(s->wake, O_NONBLOCK | O_CLOEXEC)) {
    snprintf(why, size, "there are no random numbers, or too many open files");
    return false;
  }
  ambit__undo_lock();
  s->listener =
      *asked->path ? listen_unix(asked->path, why, size) : listen_tcp(asked->port, why, size);
  if (s->listener >= 0 && *asked->path) {
    snprintf(s->path, sizeof s->path, "%s", asked->path);
    s->undo = (ambit__undo){.run = remove_socket, .what = s};
    ambit__undo_add(&s->undo);
  }
  ambit__undo_unlock();
  if (s->listener < 0) return false;
  fcntl(s->listener, F_SETFL, O_NONBLOCK);
  return !ambit__thread_begin(&s->thread, run, s);
}

static void notify(void *reader)
{
  const server *s = reader;

  if (write(s->wake[1], "", 1) < 0) return; /* full: it is awake */
}

static void free_server(server *s)
{
  for (int i = 0; i < CONNECTIONS; i++)
    end_connection(&s->all[i]);
  ambit__undo_remove(&s->undo);
  remove_socket(s);
  if (s->listener >= 0) close(s->listener);
  for (int i = 0; i < 2; i++)
    if (s->wake[i] >= 0) close(s->wake[i]);
  free(s);
}

static void *open_server(ambit__viewer *v, char *why, size_t size)
{
  server *s = calloc(1, sizeof *s);

  if (!s) return NULL;
  s->viewer = v;
  s->listener = s->wake[0] = s->wake[1] = -1;
  for (int i = 0; i < CONNECTIONS; i++)
    s->all[i].fd = -1;
  if (!start(s, why, size)) {
    free_server(s);
    return NULL;
  }
  print_address(s);
  return s;
}

/* Answers that are on their way, and the last picture, get a moment. */
static void close_server(void *reader)
{
  server *s = reader;
  const double end = ambit__clock() + CLOSE_SECONDS;
  bool busy = true;

  while (busy && ambit__clock() < end) {
    struct timespec moment = {.tv_nsec = 20000000};

    notify(s);
    nanosleep(&moment, NULL);
    pthread_mutex_lock(&s->viewer->lock);
    busy = false;
    for (int k = 0; k < CONNECTIONS; k++)
      busy |= s->all[k].fd >= 0 && s->all[k].out.len > 0;
    busy |= s->shown && s->shown < s->viewer->frame.number; /* who has watched will ask */
    pthread_mutex_unlock(&s->viewer->lock);
  }
  atomic_store(&s->stops, true);
  notify(s);
  pthread_join(s->thread, NULL);
  free_server(s);
}

const ambit__reader_kind ambit__reader_http = {open_server, notify, close_server};
