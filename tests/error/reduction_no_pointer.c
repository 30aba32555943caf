// expect: the reduction 'r' is not a pointer
void f(sum float r)
{
  *r = 1;
}
