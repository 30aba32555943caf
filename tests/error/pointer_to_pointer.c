// expect: 'v' is a pointer to a pointer
void f(float **v)
{
  *v = 1;
}
