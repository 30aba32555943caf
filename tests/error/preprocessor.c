// expect: a kernel has no lines with #
// expect: const local
#define K 3
void f(float *v)
{
  *v = K;
}
