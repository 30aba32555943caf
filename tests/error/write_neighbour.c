// expect: 5:3: error: 'v' is written at a neighbour
// expect: read the neighbour
void f(float *v)
{
  v[0][1] = 1;
}
