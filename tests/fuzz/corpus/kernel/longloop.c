void f(float *v) { for (int i = 0; i < 2000000000; i++) for (long j = 9; j != 0; j -= 2) ; *v = 1; }
