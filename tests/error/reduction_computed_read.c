// expect: 'r' is read, and some of its subscripts are computed
void f(const int *u, sum int *r[40]) { *r[*u] += 1; *r[0] += *r[1]; }
