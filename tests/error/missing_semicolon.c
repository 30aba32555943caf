// expect: 3:9: error: ';' is missing after the statement
void f(float *v) {
  *v = 1
}
