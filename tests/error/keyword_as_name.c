// expect: 'while' cannot be the name of a local
void f(float *v)
{
  float while = 1;
}
