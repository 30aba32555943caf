// expect: the type 'real' has no meaning here
// expect: ambit_define_real
void k(const real *u, real *v)
{
  *v = *u;
}
