static float sq(float x) { return x * x; }
static float w(int i, const float a[2]) { float t = a[i]; if (t > 1) t = sq(t); return t; }
void k(const float *u, float *v) { const float a[2] = {1, 2}; *v = w(0, a) + sq(w(1, a) * u[1]); }
