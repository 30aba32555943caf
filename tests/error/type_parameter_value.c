// expect: 'flaot' is not a type
// expect: did you mean 'float'?
void f(float *v, flaot k)
{
  *v = k;
}
