// expect: the field 'u' is never written
// expect: declare it const: const float *u
void f(float *u, float *v)
{
  *v = *u;
}
