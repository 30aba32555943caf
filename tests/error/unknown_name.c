// expect: 4:8: error: unknown name 'sped'; did you mean 'speed'?
void f(float *v, float speed)
{
  *v = sped;
}
