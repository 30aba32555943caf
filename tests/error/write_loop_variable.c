// expect: 'i' is the variable of a for
void f(float *v)
{
  for (int i = 0; i < 3; i++) {
    i = 2;
    *v = i;
  }
}
