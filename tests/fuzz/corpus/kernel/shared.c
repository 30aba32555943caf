static const int n = 2, m = 1; const float w[n + 1] = {3, 4, 5};
static float pick(float x, const float y[3]) { return x * w[n] + y[m]; }
static const double t[2][2] = {{1, 2}, {n, m}};
void k(const float *u, float *v, float m) { float n = m; *v = pick(*u, w) + n; }
void l(double *v) { *v = t[1][0] + (w)[1]; }
