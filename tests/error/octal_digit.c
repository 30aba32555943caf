// expect: a leading 0 means octal
void f(float *v)
{
  *v = 089;
}
