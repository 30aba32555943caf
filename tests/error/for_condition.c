// expect: the condition of the for loop does not compare 'i'
void f(float *v)
{
  for (int i = 0; i == 3; i++)
    *v = i;
}
