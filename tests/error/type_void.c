// expect: a kernel starts with void, not 'viod'
viod f(float *v)
{
  *v = 1;
}
