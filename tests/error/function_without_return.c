// expect: the function 'f' does not end in a return
static float f(float x)
{
  x = 2 * x;
}

void k(const float *u, float *v)
{
  *v = f(*u);
}
