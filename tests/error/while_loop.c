// expect: 'while' is not allowed in a kernel
// expect: ambit_run_until
void f(float *v)
{
  while (*v < 1)
    *v += 1;
}
