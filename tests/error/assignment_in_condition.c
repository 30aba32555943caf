// expect: an assignment inside an expression
// expect: write ==
void f(const float *u, float *v)
{
  *v = 1;
  if (*v = 2)
    *v = *u;
}
