// expect: the for loop steps 'i' away from its bound and would never end
void f(float *v)
{
  for (int i = 0; i < 10; i--)
    *v = i;
}
