// expect: a text has no variables beside its functions
// expect: static const float w[3]
static float w[3] = {1, 2, 3};
void f(float *v)
{
  *v = w[0];
}
