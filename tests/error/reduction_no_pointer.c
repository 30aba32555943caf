// expect: the reduction 'r' is no pointer
void f(sum float r)
{
  *r = 1;
}
