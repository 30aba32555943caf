// expect: the kernel 'f' has no result
void f(const float *u)
{
}
