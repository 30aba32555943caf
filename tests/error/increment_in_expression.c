// expect: ++ or -- inside an expression
void f(float *v)
{
  int i = 0;
  *v = i++;
}
