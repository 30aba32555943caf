/* A table that the nest writes: cells would read old or new numbers. */
static double curve[16], u[16];

/* says: all cells read curve[0], and the nest writes that array */
void f(const unsigned char *which)
{
#pragma ambit
  for (int i = 0; i < 16; i++)
    curve[i] = u[i] + curve[which[i]];
}
