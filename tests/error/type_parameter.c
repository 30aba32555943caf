// expect: error: 'float32' is not a type
// expect: did you mean 'float'?
void f(const float *u, float32 *v)
{
  *v = *u;
}
