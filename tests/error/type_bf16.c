// expect: 'bf16' is not a type of the kernel language
// expect: did you mean 'bfloat'?
void f(const bf16 *u, float *v)
{
  *v = *u;
}
