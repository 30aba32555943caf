/* A field that another nest goes over is no table. */
/* says: the place in 'u' is computed, and other nests go over that array */
/* says: cells depend on their order */
void f(float *u, float *v, const float *x, int n)
{
#pragma ambit
  for (int i = 0; i < n; i++)
    v[i] = u[(int)x[i]];
#pragma ambit
  for (int i = 1; i < n; i++)
    u[i] = u[i - 1] + x[i];
}
