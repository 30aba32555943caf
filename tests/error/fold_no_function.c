// expect: 4:13: error: there is no function 'f'
// expect: static float f(float a, float b)

void k(fold(f, 0) float *r)
{
  *r = 1;
}
