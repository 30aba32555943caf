/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_colour.c - frames of videos as pictures, and pictures as frames of videos.
 *
 * BT.601, as ffmpeg and most readers of Y4M take it. Luma has 16 to 235, chroma 16 to 240, unless
 * the header of the file says XCOLORRANGE=FULL. A pixel takes the chroma of its block: results of a
 * stencil are shown as they are, without another filter.
 */
#include "io/frames.h"

static unsigned char byte_of(double x)
{
  return (unsigned char)(x > 0 ? x < 255 ? x + 0.5 : 255 : 0);
}

/* How many pixels share a sample along an axis: 1, 2 or 4. */
static int64_t sharing(int64_t pixels, int64_t samples)
{
  int64_t n = 1;

  while ((pixels + n - 1) / n > samples)
    n *= 2;
  return n;
}

void ambit__frame_to_rgb(const ambit__frame_form *form, bool full,
                         const unsigned char *const *planes, unsigned char *rgb)
{
  const double luma = full ? 1 : 255.0 / 219, chroma = full ? 1 : 255.0 / 224;
  const int64_t width = form->width[0], height = form->height[0];
  const int64_t down = sharing(height, form->height[1]), across = sharing(width, form->width[1]);

  for (int64_t i = 0; i < height; i++)
    for (int64_t j = 0; j < width; j++, rgb += 3) {
      const int64_t at = i / down * form->width[1] + j / across;
      const double y = luma * (planes[0][i * width + j] - (full ? 0 : 16));
      const double u = chroma * (planes[1][at] - 128), v = chroma * (planes[2][at] - 128);

      rgb[0] = byte_of(y + 1.402 * v);
      rgb[1] = byte_of(y - 0.344136 * u - 0.714136 * v);
      rgb[2] = byte_of(y + 1.772 * u);
    }
}

void ambit__frame_to_yuv(const ambit__frame_form *form, const unsigned char *const *planes,
                         unsigned char *yuv)
{
  const int64_t cells = form->width[0] * form->height[0], step = form->is_packed ? 3 : 1;
  const unsigned char *const from[3] = {planes[0], form->is_packed ? planes[0] + 1 : planes[1],
                                        form->is_packed ? planes[0] + 2 : planes[2]};

  for (int64_t i = 0; i < cells; i++) {
    const double r = from[0][i * step], g = from[1][i * step], b = from[2][i * step];
    const double y = 0.299 * r + 0.587 * g + 0.114 * b;

    yuv[i] = byte_of(16 + 219 / 255.0 * y);
    yuv[cells + i] = byte_of(128 + 224 / 255.0 * (b - y) / 1.772);
    yuv[2 * cells + i] = byte_of(128 + 224 / 255.0 * (r - y) / 1.402);
  }
}
