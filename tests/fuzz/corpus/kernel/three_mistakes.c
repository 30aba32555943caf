void bad(const float *u, float *v, int k)
{
	int n = 1;
	*v = u[n][0] + foo + fabss(*v);
	u[0][1] = 3;
	*v = u[1];
	k = 3 % 2.0;
}
