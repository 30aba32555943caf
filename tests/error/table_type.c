// expect: 'single' is not a type of the kernel language
// expect: did you mean 'float'?
void f(const float *u, float *v, table single k[3])
{
  *v = *u;
}
