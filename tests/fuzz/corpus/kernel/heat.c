void heat(const float *u, float *v, float k, max float *change)
{
    *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
    *change = fmaxf(*change, fabsf(*v - *u));
}
