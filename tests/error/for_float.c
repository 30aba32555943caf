// expect: the variable of a for loop is a float; it must be an int or a long
void f(float *v)
{
  for (float i = 0; i < 3; i++)
    *v = i;
}
