void f(float *v, float *w) { *v = *w = 3; *v = 1, 2; if (*v = 2) ; }
