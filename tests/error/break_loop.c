// expect: 'break' is not allowed in a kernel
void f(float *v)
{
  for (int i = 0; i < 3; i++) {
    *v = i;
    break;
  }
}
