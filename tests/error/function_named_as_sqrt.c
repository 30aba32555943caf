// expect: 'sqrt' is a function of the language
static double sqrt(double x)
{
  return x;
}

void k(double *v)
{
  *v = 1;
}
