// expect: an argument of index() is a double; it must be an integer
void f(const float *u, float *v)
{
  *v = *u + index(0.0);
}
