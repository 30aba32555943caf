/* says: 'x' keeps a value for each cell of a line, and x[i - 1] may be one of another line */
/* says: nests between arrays of all cells */
int main(void)
{
  static double v[100][100];
#pragma ambit
  for (int j = 0; j < 100; j++) {
    double x[100];

    for (int i = 1; i < 100; i++)
      x[i] = v[i][j];
    for (int i = 1; i < 100; i++)
      v[i][j] = x[i] - x[i - 1];
  }
  return (int)v[0][0];
}
