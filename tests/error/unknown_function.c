// expect: unknown function 'sqroot'
// expect: a kernel may call
void f(float *v)
{
  *v = sqroot(2);
}
