/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups of bytes in tables with room for 256 (nest/rows_narrow.c), in place. Permutations of
 * bytes take a vector at a time: those of AVX-512 choose from 128 bytes, those of ARM from 64, and
 * leave a byte as it is if its subscript is larger. */
#if defined(__AVX512BW__)
#  include <immintrin.h>
#elif defined(__aarch64__) && (defined(__clang__) || __GNUC__ >= 11) /* these have vld1q_u8_x4 */
#  include <arm_neon.h>
#  define AMBIT_NEON_TABLES
#endif

AMBIT_INLINE void ambit_look_up(uint8_t *at, const uint8_t *table, int n)
{
  int i = 0;

#if defined(__AVX512VBMI__)
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64);
  const __m512i c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);

  for (; i + 64 <= n; i += 64) {
    const __m512i from = _mm512_loadu_si512(at + i);
    const __m512i low = _mm512_permutex2var_epi8(a, from, b);
    const __m512i high = _mm512_permutex2var_epi8(c, from, d);

    _mm512_storeu_si512(at + i, _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(from), high));
  }
#elif defined(AMBIT_NEON_TABLES)
  const uint8x16x4_t a = vld1q_u8_x4(table), b = vld1q_u8_x4(table + 64);
  const uint8x16x4_t c = vld1q_u8_x4(table + 128), d = vld1q_u8_x4(table + 192);

  for (; i + 16 <= n; i += 16) {
    const uint8x16_t from = vld1q_u8(at + i), size = vdupq_n_u8(64);
    uint8x16_t rest = vsubq_u8(from, size), found = vqtbl4q_u8(a, from);

    found = vqtbx4q_u8(found, b, rest);
    rest = vsubq_u8(rest, size);
    found = vqtbx4q_u8(found, c, rest);
    vst1q_u8(at + i, vqtbx4q_u8(found, d, vsubq_u8(rest, size)));
  }
#endif
  for (; i < n; i++)
    at[i] = table[at[i]];
}

/* Of shorts, in tables of at most 64 whose last subscript is `last`; a subscript beyond an end
 * means that end. Permutations of shorts choose from 32 or 64. The first elements are loaded under
 * a mask, as no others are in memory. */
AMBIT_INLINE void ambit_look_up_shorts(int16_t *at, const int16_t *table, int last, int n)
{
  int i = 0;

#if defined(__AVX512BW__)
  const uint64_t there = ~UINT64_C(0) >> (63 - last);
  const __m512i a = _mm512_maskz_loadu_epi16((__mmask32)there, table);
  const __m512i b = _mm512_maskz_loadu_epi16((__mmask32)(there >> 32), table + 32);
  const __m512i most = _mm512_set1_epi16((short)last);

  for (; i + 32 <= n; i += 32) {
    __m512i from = _mm512_loadu_si512(at + i);

    from = _mm512_min_epi16(_mm512_max_epi16(from, _mm512_setzero_si512()), most);
    _mm512_storeu_si512(at + i, last < 32 ? _mm512_permutexvar_epi16(from, a)
                                          : _mm512_permutex2var_epi16(a, from, b));
  }
#endif
  for (; i < n; i++)
    at[i] = table[at[i] < 0 ? 0 : at[i] > last ? last : at[i]];
}
