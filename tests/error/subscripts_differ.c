// expect: 'w' has 1 subscript for the cell here, but 2 at line 4 column 8
void f(const float *u, const float *w, float *v)
{
  *v = u[0][1] + w[1];
}
