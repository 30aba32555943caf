// expect: 'k' is an array of plain values
void f(float *v, float k[3])
{
  *v = k[0];
}
