void relax(float *u[2], const float *f, int k)
{
  const long c = (index(0) + index(1)) & 1;
  if (c == k && *f > 0)
    *u[0] = u[0][-1][0] + u[1][0][1];
  else if (!(c != k))
    *u[1] = 0;
  *u[0] = (step() + index(1) - index(0)) % 2 ? u[0][1][0] : *u[0];
}
