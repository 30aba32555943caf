/* says: this loop is neither over cells nor over a small number known here */
#include <stdlib.h>
int main(int argc, char **argv)
{
  static double u[100], v[100];
  const int r = argc > 1 ? atoi(argv[1]) : 2;
#pragma ambit
  for (int i = 10; i < 90; i++) {
    double s = 0;
    for (int k = -r; k <= r; k++)
      s += u[i + k];
    v[i] = s;
  }
  return (int)v[50];
}
