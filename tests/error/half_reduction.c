// expect: 'r' is a half
// expect: a reduction is float: sum float *r
void k(const half *u, sum half *r)
{
  *r = *u;
}
