// expect: 'f64' is not a type
// expect: did you mean 'double'?
void f(float *v)
{
  *v = (f64)3;
}
