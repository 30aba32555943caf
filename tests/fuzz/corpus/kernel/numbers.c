void n(double *v)
{
  *v = 0x1.8p3 + 1e300 * 1e10 + .5f + 017 + 0x7fffffff + 1L + 1e-320 + (0.0 / 0.0) + INFINITY - M_PI;
}
