/* says: the subscript becomes less where a loop variable becomes more: a mirror */
/* A whole row backwards, and a backward sweep: no layers of an edge, and n is no small number. */
void reverse(int n, const double *u, double *v)
{
#pragma ambit
  for (int i = 0; i < n; i++)
    v[i] = u[n - 1 - i];
}

void sweep(int n, double **u)
{
#pragma ambit
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n - 2; j++)
      u[i][n - 2 - j] -= 0.5 * u[i][n - 1 - j];
}
