// expect: the for loop does not step 'i' by a constant
void f(float *v)
{
  for (int i = 1; i < 100; i *= 2)
    *v = i;
}
