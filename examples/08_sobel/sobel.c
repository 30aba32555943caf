/* SPDX-License-Identifier: BSD-3-Clause */
/* sobel.c - edges: the length of the gradient, cut off at 255.
 *
 *   ambit stream sobel.c -i in.mp4 -o out.mp4 --boundary reflect/symmetric
 */
void sobel(const unsigned char *u, unsigned char *v)
{
  int gx = u[-1][1] - u[-1][-1] + 2 * (u[0][1] - u[0][-1]) + u[1][1] - u[1][-1];
  int gy = u[1][-1] - u[-1][-1] + 2 * (u[1][0] - u[-1][0]) + u[1][1] - u[-1][1];

  *v = fminf(sqrtf((float)(gx * gx + gy * gy)), 255.0f);
}
