/* SPDX-License-Identifier: BSD-3-Clause */
/* Dusk and tide are short lists of anchors in OKLCh: lightness, chroma, hue. Lightness changes in
 * equal steps, which makes the map uniform and readable in grey print; hue and chroma stay within
 * the sRGB gamut. Between anchors, lightness is linear, and chroma and hue follow smooth curves.
 * Orbit has such a list for each way from light to dark. The conversion is Bjorn Ottosson's OKLab
 * (2020). Viridis and its kin are polynomials of degree 6 in sRGB, viridis by Matt Zucker (CC0),
 * which differ from Matplotlib's tables by at most 7 of 255. */
#include "io/colour.h"

#include <math.h>
#include <string.h>

typedef struct anchor {
  double lightness; /* 0 black to 1 white */
  double chroma;    /* 0 grey */
  double hue;       /* degrees; may pass 360 */
} anchor;

static const anchor dusk[] = {
    {0.140, 0.060, 272}, {0.223, 0.105, 285}, {0.306, 0.138, 302}, {0.389, 0.155, 328},
    {0.472, 0.170, 357}, {0.555, 0.182, 382}, {0.638, 0.168, 405}, {0.721, 0.152, 425},
    {0.804, 0.150, 445}, {0.887, 0.145, 459}, {0.970, 0.080, 466},
};
static const anchor cold[] = {
    {0.970, 0.000, 238}, {0.820, 0.083, 240}, {0.670, 0.138, 247},
    {0.520, 0.160, 256}, {0.370, 0.125, 264},
};
static const anchor warm[] = {
    {0.970, 0.000, 45}, {0.820, 0.092, 40}, {0.670, 0.165, 33},
    {0.520, 0.185, 27}, {0.370, 0.140, 24},
};
static const anchor night[] = {
    {0.940, 0.004, 255}, {0.760, 0.090, 245}, {0.580, 0.145, 257},
    {0.400, 0.130, 278}, {0.220, 0.060, 320},
};
static const anchor day[] = {
    {0.940, 0.004, 75}, {0.760, 0.100, 62},  {0.580, 0.150, 38},
    {0.400, 0.120, 14}, {0.220, 0.060, -40},
};
static const anchor grey[] = {{0, 0, 0}, {0.25, 0, 0}, {0.5, 0, 0}, {0.75, 0, 0}, {1, 0, 0}};
enum { NDUSK = sizeof dusk / sizeof *dusk, NHALF = sizeof cold / sizeof *cold };

/* Catmull-Rom spline between b and c; f runs from 0 to 1. */
static double curve(double a, double b, double c, double d, double f)
{
  return b + f / 2 * (c - a + f * (2 * a - 5 * b + 4 * c - d + f * (3 * (b - c) + d - a)));
}

static anchor between(const anchor *list, int n, double t)
{
  int i = t < 1 ? (int)(t * (n - 1)) : n - 2;
  double f = t * (n - 1) - i;
  const anchor *b = &list[i], *c = b + 1, *a = i > 0 ? b - 1 : b, *d = i < n - 2 ? c + 1 : c;

  return (anchor){b->lightness + f * (c->lightness - b->lightness),
                  curve(a->chroma, b->chroma, c->chroma, d->chroma, f),
                  curve(a->hue, b->hue, c->hue, d->hue, f)};
}

static double cube(double x)
{
  return x * x * x;
}

/* From linear light to an sRGB byte. */
static unsigned char to_byte(double light)
{
  double x = light < 0 ? 0 : light > 1 ? 1 : light;

  x = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
  return (unsigned char)(255 * x + 0.5);
}

static ambit__rgb to_rgb(anchor c)
{
  static const double degree = 3.14159265358979323846 / 180;
  double a = c.chroma * cos(c.hue * degree), b = c.chroma * sin(c.hue * degree);
  double l = cube(c.lightness + 0.3963377774 * a + 0.2158037573 * b);
  double m = cube(c.lightness - 0.1055613458 * a - 0.0638541728 * b);
  double s = cube(c.lightness - 0.0894841775 * a - 1.2914855480 * b);

  return (ambit__rgb){to_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                      to_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                      to_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

static unsigned char evaluate(const double *c, double t)
{
  const double x = c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * (c[5] + t * c[6])))));

  return (unsigned char)(255 * (x < 0 ? 0 : x > 1 ? 1 : x) + 0.5);
}

/* Of red, green and blue. */
typedef struct polynomials {
  double c[3][7];
} polynomials;

static const polynomials viridis = {{{0.2777273272, 0.1050930431, -0.3308618287, -4.6342304990,
                                      6.2282699363, 4.7763849977, -5.4354558559},
                                     {0.0054073445, 1.4046135299, 0.2148475595, -5.7991009734,
                                      14.1799333668, -13.7451453777, 4.6458526122},
                                     {0.3340998053, 1.3845901626, 0.0950951630, -19.3324409563,
                                      56.6905526007, -65.3530326334, 26.3124352496}}};
static const polynomials magma = {
    {{-0.0175113, 0.7141514, 4.414051, -13.4472, 27.32823, -30.00824, 12.01139},
     {0.009670111, 0.6081343, -3.807386, 16.62107, -33.45982, 34.20187, -13.19598},
     {-0.007414385, 2.347933, 2.798963, -26.45489, 41.13145, -23.63524, 4.585219}}};
static const polynomials inferno = {
    {{0.007566275, -0.3463017, 16.21, -59.62792, 109.7005, -99.0352, 34.07358},
     {0.001469463, 0.8256405, -7.539034, 33.81089, -66.14076, 62.39754, -22.36699},
     {-0.04412888, 4.362196, -19.34851, 59.81416, -114.3624, 103.7516, -33.5018}}};
static const polynomials plasma = {
    {{0.05478989, 2.506784, -5.992969, 18.4076, -32.45743, 27.4854, -9.068555},
     {0.02552255, 0.3582739, -9.204708, 50.31642, -98.37031, 85.32259, -27.47964},
     {0.5173239, 1.648229, -6.354775, 10.03414, -12.71019, 10.2225, -3.215255}}};
static const polynomials cividis = {
    {{-0.4368514, 7.457528, -35.46701, 96.32587, -139.1259, 101.9261, -29.68336},
     {0.1368203, 0.5876178, 1.247512, -5.652056, 11.45649, -10.40506, 3.536283},
     {0.3047364, 2.636372, -17.58591, 50.73459, -68.59546, 42.55314, -9.843878}}};

static ambit__rgb of_polynomials(const polynomials *p, double t)
{
  return (ambit__rgb){evaluate(p->c[0], t), evaluate(p->c[1], t), evaluate(p->c[2], t)};
}

static const char *const names[AMBIT__COLOUR_MAPS] = {
    [AMBIT__DUSK] = "dusk",       [AMBIT__TIDE] = "tide",       [AMBIT__VIRIDIS] = "viridis",
    [AMBIT__MAGMA] = "magma",     [AMBIT__INFERNO] = "inferno", [AMBIT__PLASMA] = "plasma",
    [AMBIT__CIVIDIS] = "cividis", [AMBIT__ORBIT] = "orbit",     [AMBIT__GREY] = "grey"};

const char *ambit__colour_name(ambit__colour_map map)
{
  return names[map];
}

bool ambit__colour_find(const char *name, ambit__colour_map *map)
{
  for (int i = 0; i < AMBIT__COLOUR_MAPS; i++)
    if (!strcmp(name, names[i])) return *map = (ambit__colour_map)i, true;
  return false;
}

static ambit__rgb colour_at(ambit__colour_map map, double t)
{
  switch (map) {
  case AMBIT__DUSK: return to_rgb(between(dusk, NDUSK, t));
  case AMBIT__TIDE: return to_rgb(between(t < 0.5 ? cold : warm, NHALF, fabs(2 * t - 1)));
  case AMBIT__VIRIDIS: return of_polynomials(&viridis, t);
  case AMBIT__MAGMA: return of_polynomials(&magma, t);
  case AMBIT__INFERNO: return of_polynomials(&inferno, t);
  case AMBIT__PLASMA: return of_polynomials(&plasma, t);
  case AMBIT__CIVIDIS: return of_polynomials(&cividis, t);
  case AMBIT__ORBIT: return to_rgb(between(t < 0.5 ? night : day, NHALF, 1 - fabs(2 * t - 1)));
  default: return to_rgb(between(grey, NHALF, t));
  }
}

void ambit__colour_table(ambit__colour_map map, ambit__rgb out[AMBIT__COLOURS])
{
  for (int i = 0; i < AMBIT__COLOURS; i++)
    out[i] = colour_at(map, (double)i / (AMBIT__COLOURS - 1));
}
