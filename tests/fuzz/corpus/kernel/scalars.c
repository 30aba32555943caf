void alpha(double rr, double ps, sum double *a) { *a = rr / ps; }
