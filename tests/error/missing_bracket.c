// expect: ')' is missing to close the '('
void f(float *v)
{
  *v = (1 + 2;
}
