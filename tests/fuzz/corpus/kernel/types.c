void t(const short *a, const long *b, const int *c, const unsigned char *d, long *o)
{
  *o = (*a << 3) + (*b >> 2) - (~*c & 0xff) ^ (*d | 1);
  *o %= 7;
  *o += -*a / (int)*b;
}
