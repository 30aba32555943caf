// expect: 4:8: error: 't' is read before it has a value
void f(float *v) {
  float t; /* no value */
  *v = t;
}
