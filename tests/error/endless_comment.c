// expect: this comment is not closed
void f(float *v)
{
  *v = 1; /* and so on
}
