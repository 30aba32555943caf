/* says: the nest calls 'rand', whose effect is not known */
#include <stdlib.h>
int main(void)
{
  static double v[100];
#pragma ambit
  for (int i = 0; i < 100; i++)
    v[i] = rand();
  return (int)v[0];
}
