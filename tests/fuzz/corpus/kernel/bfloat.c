void k(const bfloat *u, bfloat *v, half *w, double d)
{
  bfloat t = (bfloat)d, c = -1e30;
  *v = u[-1] + t * (bfloat)3 - (*u ? (bfloat)7 : c);
  *w = *v;
}
