// expect: this for loop does not declare its variable
void f(float *v)
{
  int i;
  for (i = 0; i < 3; i++)
    *v = i;
}
