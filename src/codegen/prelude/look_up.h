/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups of bytes in tables with room for 256 (nest/rows_narrow.c), in place; no subscript is
 * larger than `last`. Permutations of bytes take a vector at a time: those of AVX-512 VBMI choose
 * from 128 bytes, those of ARM from 64, and leave a byte as it is if its subscript is larger. Those
 * of AVX2 choose from 16, and give 0 where the subscript has its highest bit: here, where the 16
 * are not the ones. Those of words of AVX-512 choose from 64 pairs of bytes. Single loads take 2.5
 * times as long as the former and 6 times as long as the latter. */
#if defined(__AVX2__)
#  include <immintrin.h>
#elif defined(__aarch64__) && (defined(__clang__) || __GNUC__ >= 11) /* these have vld1q_u8_x4 */
#  include <arm_neon.h>
#  define AMBIT_NEON_TABLES
#endif

/* A subscript of a table of bytes: beyond an end, that end. */
AMBIT_INLINE uint8_t ambit_subscript(int16_t at, int16_t last)
{
  const int16_t low = at < 0 ? 0 : at;

  return (uint8_t)(low > last ? last : low);
}

AMBIT_INLINE void ambit_look_up(uint8_t *at, const uint8_t *table, int last, int n)
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
#elif defined(__AVX2__)
#  if defined(__AVX512BW__)
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64);
  const __m512i c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);

  for (; last >= 64 && i + 64 <= n; i += 64) {
    const __m512i from = _mm512_loadu_si512(at + i);
    __m512i found[2]; /* of even and odd bytes, in the lower half of a word */

    for (int k = 0; k < 2; k++) {
      const __m512i byte = _mm512_srli_epi16(_mm512_slli_epi16(from, k ? 0 : 8), 8);
      const __m512i pair = _mm512_srli_epi16(byte, 1), odd = _mm512_slli_epi16(byte, 15);
      const __m512i low = _mm512_permutex2var_epi16(a, pair, b);
      const __m512i high = _mm512_permutex2var_epi16(c, pair, d);
      const __mmask32 is_high = _mm512_test_epi16_mask(pair, _mm512_set1_epi16(64));

      found[k] = _mm512_mask_mov_epi16(low, is_high, high);
      found[k] = _mm512_srlv_epi16(found[k], _mm512_srli_epi16(odd, 12));
    }
    found[1] = _mm512_slli_epi16(found[1], 8);
    _mm512_storeu_si512(at + i, _mm512_mask_mov_epi8(found[1], 0x5555555555555555, found[0]));
  }
#  endif
  for (; i + 32 <= n; i += 32) {
    const __m256i from = _mm256_loadu_si256((const __m256i *)(at + i));
    __m256i found = _mm256_setzero_si256();

    for (int k = 0; k <= last; k += 16) {
      const __m128i some = _mm_loadu_si128((const __m128i *)(table + k));
      const __m256i rest = _mm256_xor_si256(from, _mm256_set1_epi8((char)k));
      const __m256i where = _mm256_adds_epu8(rest, _mm256_set1_epi8(112)); /* 128 or more from 16 */

      found = _mm256_or_si256(found, _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(some), where));
    }
    _mm256_storeu_si256((__m256i *)(at + i), found);
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
  (void)last;
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
