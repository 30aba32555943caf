void f(float **p, float q[3], float *v, size_t n) { float *w = &v; *(v + 1) = w->x; }
