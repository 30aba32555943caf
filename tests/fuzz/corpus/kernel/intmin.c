void n(long *v, int *w)
{
  *w = -2147483647 - 1;
  *v = -9223372036854775807L - 1;
  *v = (unsigned char)300 + (short)70000;
}
