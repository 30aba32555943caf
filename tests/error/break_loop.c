// expect: 'break' has no place in a kernel
void f(float *v)
{
  for (int i = 0; i < 3; i++) {
    *v = i;
    break;
  }
}
