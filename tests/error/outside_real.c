// expect: an argument of outside() is a float
void k(const float *u, float *v)
{
  *v = outside(1.0f) ? 0 : u[1];
}
