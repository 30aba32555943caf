void f(float *v) { while (1) *v = 2; break; return 3; }
