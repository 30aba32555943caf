// expect: 'struct' has no place in a kernel
void f(float *v)
{
  struct s { int a; } b;
}
