// expect: 7 subscripts for the cell; a grid has at most 6 axes
void f(const float *u, float *v)
{
  *v = u[0][0][0][0][0][0][1];
}
