// expect: 6:17: error: f[1][0][1] is read here, and f[1][0][-1] is written
// expect: another cell writes this one
void f(float *f[2])
{
  f[0][1][0] = f[0][1][0] + 1; // at one place: as it should be
  f[1][0][-1] = f[1][0][1];
}
