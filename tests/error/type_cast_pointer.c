// expect: 'single' is not a type
void f(const int *u, float *v)
{
  *v = *(single *)u;
}
