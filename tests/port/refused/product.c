/* says: this loop is neither over cells nor over a small number known here */
/* A matrix and a vector: all of a row for each cell. */
void multiply(int n, double a[n][n], const double *x, double *y)
{
#pragma ambit
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < n; k++)
      s += a[i][k] * x[k];
    y[i] = s;
  }
}
