static float f(float a, float b) { float c = fabsf(a); if (c < b) c = b; return c; }
void k(const float *u, fold(f, -INFINITY) float *r[2], fold(f, 0) float *s) { *r[0] = *u; *r[1] = u[1]; *s = f(*u, 2); }
