// expect: this comment never ends
void f(float *v)
{
  *v = 1; /* and so on
}
