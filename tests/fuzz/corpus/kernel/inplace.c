void g(float *u, float k)
{
  if ((index(0) + index(1)) % 2 == step() % 2)
    *u = k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1]);
}
