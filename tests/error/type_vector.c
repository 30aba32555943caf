// expect: 'uint8_t' is not a type
// expect: did you mean 'unsigned char'?
void f(const uint8_t *u[3], float *v)
{
  *v = *u[0];
}
