#line 7 "a\\b.c"
void f(float *v) { *v = 1; }
