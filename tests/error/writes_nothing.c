// expect: the kernel 'f' writes nothing
void f(const float *u)
{
}
