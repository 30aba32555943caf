/* SPDX-License-Identifier: BSD-3-Clause */
/* svg.c - a graph as SVG: the level of a node is the length of the longest path to it, its column
 * the number of nodes of its level before it. */
#include "base/memory.h"
#include "runtime/explain/explain.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 260, HEIGHT = 44, ACROSS = 290, DOWN = 84, LEFT = 20, TOP = 50, LINE = 14 };

typedef struct place {
  int level, column;
} place;

static int x_of(const place *p)
{
  return LEFT + p->column * ACROSS;
}

static int y_of(const place *p)
{
  return TOP + p->level * DOWN;
}

/* Edges are in the order of the nodes that they lead to. */
static ambit_status find_places(ambit__errors *errors, size_t count, const ambit__edge *edges,
                                size_t nedges, place *places, place *most)
{
  int *used = ambit__new(errors, count + 1, sizeof *used);

  if (!used) return AMBIT_ENOMEM;
  for (size_t i = 0; i < nedges; i++)
    if (places[edges[i].to].level <= places[edges[i].from].level)
      places[edges[i].to].level = places[edges[i].from].level + 1;
  for (size_t i = 0; i < count; i++) {
    places[i].column = used[places[i].level]++;
    if (places[i].level > most->level) most->level = places[i].level;
    if (places[i].column > most->column) most->column = places[i].column;
  }
  free(used);
  return AMBIT_OK;
}

static void print_escaped(ambit__text *t, const char *text, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '<')
      ambit__print(t, "&lt;");
    else if (text[i] == '&')
      ambit__print(t, "&amp;");
    else
      ambit__print(t, "%c", text[i]);
  }
}

static void print_node(ambit__text *t, const ambit__box_of_text *n, const place *at)
{
  const char *line = n->label, *end;
  int y = y_of(at) + LINE + 4;

  ambit__print(t, "<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" ", n->kind,
               x_of(at), y_of(at), WIDTH, HEIGHT);
  ambit__print(t, "rx=\"4\" fill=\"%s\" stroke=\"#666\"/>", n->colour);
  do {
    end = strstr(line, "\\n");
    ambit__print(t, "<text x=\"%d\" y=\"%d\">", x_of(at) + 8, y);
    print_escaped(t, line, end ? (size_t)(end - line) : strlen(line));
    ambit__print(t, "</text>");
    line = end ? end + 2 : NULL;
    y += LINE;
  } while (line);
  ambit__print(t, "</g>\n");
}

static void print_edge(ambit__text *t, const place *from, const place *to)
{
  const int x0 = x_of(from) + WIDTH / 2, y0 = y_of(from) + HEIGHT, x1 = x_of(to) + WIDTH / 2;
  const int y1 = y_of(to), bend = DOWN / 2;

  ambit__print(t, "<path d=\"M%d %dC%d %d %d %d %d %d\" fill=\"none\" stroke=\"#444\" ", x0, y0, x0,
               y0 + bend, x1, y1 - bend, x1, y1);
  ambit__print(t, "marker-end=\"url(#tip)\"/>\n");
}

ambit_status ambit__graph_draw(ambit__errors *errors, const char *title,
                               const ambit__box_of_text *nodes, size_t count,
                               const ambit__edge *edges, size_t nedges, ambit__text *t)
{
  place *places = ambit__new(errors, count + 1, sizeof *places), most = {0};
  ambit_status s = places ? find_places(errors, count, edges, nedges, places, &most) : AMBIT_ENOMEM;

  if (!s) {
    ambit__print(t,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                 "font-family=\"sans-serif\" font-size=\"11\">\n",
                 2 * LEFT + most.column * ACROSS + WIDTH, 2 * LEFT + y_of(&most) + HEIGHT);
    ambit__print(t, "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" "
                    "refY=\"3\" orient=\"auto\"><path d=\"M0 0L7 3L0 6z\" "
                    "fill=\"#444\"/></marker></defs>\n"
                    "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
    ambit__print(t, "<text x=\"%d\" y=\"%d\" font-size=\"13\">", LEFT, TOP / 2);
    print_escaped(t, title, strlen(title));
    ambit__print(t, "</text>\n");
    for (size_t i = 0; i < nedges; i++)
      print_edge(t, &places[edges[i].from], &places[edges[i].to]);
    for (size_t i = 0; i < count; i++)
      print_node(t, &nodes[i], &places[i]);
    ambit__print(t, "</svg>\n");
  }
  free(places);
  return s;
}
