// expect: the type 'real' has no meaning here
// expect: ambit_kernel_create_real
void k(const real *u, real *v)
{
  *v = *u;
}
