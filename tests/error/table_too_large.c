// expect: the tables up to 'k' have 80000 bytes
// expect: larger ones can be fields
void f(const float *u, float *v, table float k[100][200])
{
  *v = *u;
}
