void m(const double *u, double *v)
{
  *v = fma(sqrt(*u), pow(u[1], 2), hypot(u[-1], 3)) + exp(-*u) * atan2(*u, 1) + labs((long)*u) + abs(-3);
}
