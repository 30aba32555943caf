// expect: 'struct' is not allowed in a kernel
void f(float *v)
{
  struct s { int a; } b;
}
