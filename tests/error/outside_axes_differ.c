// expect: 'outside' has 1 subscript for the cell here, but 2 at line 4
void k(const float *u, float *v)
{
  *v = u[0][1] + outside(1);
}
