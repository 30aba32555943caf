// expect: the text ends where '}' is missing
void f(float *v)
{
  *v = 1;
