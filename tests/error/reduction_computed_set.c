// expect: some subscripts of 'r' are computed
void f(const int *u, sum int *r[40]) { *r[*u] = 1; }
