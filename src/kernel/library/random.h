/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers, in the kernel language itself, so that every device computes the same bits.
 *
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011)
 * of the counter (cell, 64 bits; step; block) and the key `seed`. The first bits of the block say
 * who draws, so that numbers of different functions are independent. Normal numbers are by Box and
 * Muller (1958); logarithm, sine and cosine are series of + - * / alone, whose error is below the
 * rounding. */

static void ambit__philox(unsigned w[4], unsigned long seed, unsigned block)
{
  const unsigned long cell = ambit__cell();
  const unsigned k0 = seed, k1 = seed >> 32;

  w[0] = cell;
  w[1] = cell >> 32;
  w[2] = step();
  w[3] = block;
  for (int i = 0; i < 10; i++) {
    unsigned long a = 0xd2511f53uL * w[0], b = 0xcd9e8d57uL * w[2];

    w[0] = (unsigned)(b >> 32) ^ w[1] ^ (k0 + i * 0x9e3779b9u);
    w[1] = b;
    w[2] = (unsigned)(a >> 32) ^ w[3] ^ (k1 + i * 0xbb67ae85u);
    w[3] = a;
  }
}

static unsigned random(unsigned long seed, unsigned n)
{
  unsigned w[4];

  ambit__philox(w, seed, n >> 2);
  return (n & 2u) != 0u ? (n & 1u) != 0u ? w[3] : w[2] : (n & 1u) != 0u ? w[1] : w[0];
}

static float uniformf(unsigned long seed, unsigned n)
{
  unsigned w[4], x;

  ambit__philox(w, seed, n >> 2);
  x = (n & 2u) != 0u ? (n & 1u) != 0u ? w[3] : w[2] : (n & 1u) != 0u ? w[1] : w[0];
  return (float)(int)(x >> 8) * 0x1p-24f;
}

/* From two words, 53 bits. */
static double ambit__fraction(unsigned high, unsigned low)
{
  return ((double)(int)(high >> 5) * 67108864.0 + (double)(int)(low >> 6)) * 0x1p-53;
}

static double uniform(unsigned long seed, unsigned n)
{
  unsigned w[4];

  ambit__philox(w, seed, 1u << 30 | (n >> 1 & 0x3fffffffu));
  return ambit__fraction((n & 1u) != 0u ? w[2] : w[0], (n & 1u) != 0u ? w[3] : w[1]);
}

/* sqrt(-2 log x) of a number from 0 to 1 that is not 0: x = m 2^e, m near 1, and
 * log m = 2 artanh((m - 1) / (m + 1)). */
static float ambit__radiusf(float x)
{
  const float steps[6] = {16, 16, 8, 4, 2, 1},
              least[6] = {0x1p-16f, 0x1p-16f, 0x1p-8f, 0x1p-4f, 0x1p-2f, 0x1p-1f};
  float m = x, e = 0, s, z, sum = 0;

  for (int i = 0; i < 6; i++) {
    e = m < least[i] ? e - steps[i] : e;
    m = m < least[i] ? m * (1 / least[i]) : m;
  }
  e = m < 0.70710678f ? e - 1 : e;
  m = m < 0.70710678f ? 2 * m : m;
  s = (m - 1) / (m + 1);
  z = s * s;
  for (int k = 4; k >= 0; k--)
    sum = sum * z + 2.0f / (2 * k + 1);
  return sqrtf(-2.0f * (e * 0.693147181f + s * sum));
}

/* The cosine of w / 2^32 turns, `quarters` of a turn back. */
static float ambit__cosinef(unsigned w, unsigned quarters)
{
  const float c[6] = {1, -1 / 2.0f, 1 / 24.0f, -1 / 720.0f, 1 / 40320.0f, -1 / 3628800.0f};
  const float d[5] = {1, -1 / 6.0f, 1 / 120.0f, -1 / 5040.0f, 1 / 362880.0f};
  unsigned q = (w + 0x20000000u) >> 30, turn = q - quarters;
  float y = (float)(int)(w - (q << 30)) * 0x1p-30f * 1.57079633f, z = y * y, cosine = 0, sine = 0,
        v;

  for (int k = 5; k >= 0; k--)
    cosine = cosine * z + c[k];
  for (int k = 4; k >= 0; k--)
    sine = sine * z + d[k];
  v = (turn & 1u) != 0u ? y * sine : cosine;
  return (turn + 1u & 2u) != 0u ? -v : v;
}

static float gaussf(unsigned long seed, unsigned n)
{
  unsigned w[4], a, b;

  ambit__philox(w, seed, 2u << 30 | (n >> 2));
  a = (n & 2u) != 0u ? w[2] : w[0];
  b = (n & 2u) != 0u ? w[3] : w[1];
  return ambit__radiusf(((float)(int)(a >> 16) * 65536.0f + (float)(int)(a & 0xffffu) + 0.5f) *
                        0x1p-32f) *
         ambit__cosinef(b, n & 1u);
}

static double ambit__radius(double x)
{
  const double steps[6] = {32, 16, 8, 4, 2, 1},
               least[6] = {0x1p-32, 0x1p-16, 0x1p-8, 0x1p-4, 0x1p-2, 0x1p-1};
  double m = x, e = 0, s, z, sum = 0;

  for (int i = 0; i < 6; i++) {
    e = m < least[i] ? e - steps[i] : e;
    m = m < least[i] ? m * (1 / least[i]) : m;
  }
  e = m < 0.70710678118654752 ? e - 1 : e;
  m = m < 0.70710678118654752 ? 2 * m : m;
  s = (m - 1) / (m + 1);
  z = s * s;
  for (int k = 10; k >= 0; k--)
    sum = sum * z + 2.0 / (2 * k + 1);
  return sqrt(-2.0 * (e * 0.69314718055994531 + s * sum));
}

static double ambit__cosine(unsigned high, unsigned low, unsigned quarters)
{
  unsigned q = (high + 0x20000000u) >> 30, turn = q - quarters;
  double y = ((double)(int)(high - (q << 30)) + (double)(int)(low >> 6) * 0x1p-26) * 0x1p-30 *
             1.5707963267948966,
         z = y * y, cosine = 1, sine = 1, v;

  for (int k = 9; k >= 1; k--)
    cosine = 1 - z * cosine * (1.0 / (2 * k * (2 * k - 1)));
  for (int k = 9; k >= 1; k--)
    sine = 1 - z * sine * (1.0 / (2 * k * (2 * k + 1)));
  v = (turn & 1u) != 0u ? y * sine : cosine;
  return (turn + 1u & 2u) != 0u ? -v : v;
}

static double gauss(unsigned long seed, unsigned n)
{
  unsigned w[4];

  ambit__philox(w, seed, 3u << 30 | (n >> 1 & 0x3fffffffu));
  return ambit__radius(ambit__fraction(w[0], w[1]) + 0x1p-54) * ambit__cosine(w[2], w[3], n & 1u);
}
