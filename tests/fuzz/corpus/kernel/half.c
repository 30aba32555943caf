void k(const half *u, half *v, double d)
{
  half t = (half)d, w[2] = {0.1, 3};
  const half c = -70000.0;
  *v = u[-1] + t * w[1] - (int)w[0] + (*u ? (half)7 : c);
  if (*v && !t) *v += 1;
}
