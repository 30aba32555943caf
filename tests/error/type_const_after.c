// expect: 'dubble' is not a type
// expect: did you mean 'double'?
void f(dubble const *u, float *v)
{
  *v = *u;
}
