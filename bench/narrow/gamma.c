/* SPDX-License-Identifier: BSD-3-Clause */
void gamma22(const unsigned char *a, unsigned char *b)
{
  *b = (unsigned char)(255.0f * powf(*a / 255.0f, 1.0f / 2.2f) + 0.5f);
}
