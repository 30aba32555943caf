/* never ends
 void f(float *v) {