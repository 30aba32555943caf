// expect: 'k' is a plain parameter and cannot be changed
// expect: copy it into a local
void f(float *v, float k)
{
  k += 1;
  *v = k;
}
