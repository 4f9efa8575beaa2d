// Gradients of depthwise convolutions, float32, channels last. PyTorch's own take two to three times as long for 5x5.
//
// A block of channels of one image is copied to a padded map whose pixels are contiguous. There the taps of the weights'
// gradient stay in registers: all of them in the 32 of AVX-512, those of two rows in the 16 of AVX2.

#include <cstdlib>
#include <cstring>

namespace {

#ifdef __AVX512F__
constexpr long lanes = 16, rows_at_once = 5;
#else
constexpr long lanes = 8, rows_at_once = 2;
#endif
typedef float Unaligned __attribute__((vector_size(lanes * 4), aligned(4)));
typedef float Block __attribute__((vector_size(lanes * 4)));

struct Shape {
  long height, width, channels, rows, columns, padding;
};

template <int size, int stride, int first>
void add_taps(const float *gradient, const Block *padded, Block *products, const Shape &s, long channel, long width) {
  constexpr int end = first + rows_at_once < size ? first + rows_at_once : size;
  Block taps[(end - first) * size] = {};
  for (long y = 0; y < s.rows; y++)
    for (long x = 0; x < s.columns; x++) {
      const Block g = *(const Unaligned *)(gradient + (y * s.columns + x) * s.channels + channel);
      const Block *from = padded + ((y * stride + first) * width + x * stride);
#pragma GCC unroll 5
      for (int a = 0; a < end - first; a++)
#pragma GCC unroll 5
        for (int b = 0; b < size; b++) taps[a * size + b] += g * from[a * width + b];
    }
  memcpy(products + first * size, taps, sizeof taps);
  if constexpr (end < size) add_taps<size, stride, end>(gradient, padded, products, s, channel, width);
}

template <int size, int stride>
void add_image(const float *input, const float *gradient, const float *weights, float *input_gradient,
               float *weights_gradient, const Shape &s, long channel, Block *padded, Block *sums) {
  const long height = (s.rows - 1) * stride + size, width = (s.columns - 1) * stride + size;
  for (long y = 0; y < height; y++)
    for (long x = 0; x < width; x++) {
      const long row = y - s.padding, column = x - s.padding;
      const bool inside = row >= 0 && row < s.height && column >= 0 && column < s.width;
      padded[y * width + x] =
          inside ? (Block) * (const Unaligned *)(input + (row * s.width + column) * s.channels + channel) : Block{};
    }
  Block taps[size * size], products[size * size];
  add_taps<size, stride, 0>(gradient, padded, products, s, channel, width);
  for (int tap = 0; tap < size * size; tap++)
    for (int lane = 0; lane < lanes; lane++) {
      taps[tap][lane] = weights[(channel + lane) * size * size + tap];
      weights_gradient[(channel + lane) * size * size + tap] += products[tap][lane];
    }
  if (!input_gradient) return;
  memset(sums, 0, sizeof(Block) * height * width);
  for (long y = 0; y < s.rows; y++)
    for (long x = 0; x < s.columns; x++) {
      const Block g = *(const Unaligned *)(gradient + (y * s.columns + x) * s.channels + channel);
      Block *to = sums + (y * width + x) * stride;
#pragma GCC unroll 5
      for (int a = 0; a < size; a++)
#pragma GCC unroll 5
        for (int b = 0; b < size; b++) to[a * width + b] += g * taps[a * size + b];
    }
  for (long y = 0; y < s.height; y++)
    for (long x = 0; x < s.width; x++) {
      const long row = y + s.padding, column = x + s.padding;
      *(Unaligned *)(input_gradient + (y * s.width + x) * s.channels + channel) =
          row < height && column < width ? sums[row * width + column] : Block{};
    }
}

}  // namespace

// input and input_gradient [images, height, width, channels], gradient [images, rows, columns, channels], weights and
// weights_gradient [channels, size, size]. channels is a multiple of 16, size is 3 or 5, stride 1 or 2. input_gradient may
// be null.
extern "C" void depthwise_gradients(const float *input, const float *gradient, const float *weights,
                                    float *input_gradient, float *weights_gradient, long images, long height,
                                    long width, long channels, long rows, long columns, long size, long stride,
                                    long padding) {
  const Shape shape = {height, width, channels, rows, columns, padding};
  const auto add = size == 3 ? (stride == 1 ? add_image<3, 1> : add_image<3, 2>)
                             : (stride == 1 ? add_image<5, 1> : add_image<5, 2>);
  const long area = ((rows - 1) * stride + size) * ((columns - 1) * stride + size);
  memset(weights_gradient, 0, sizeof(float) * channels * size * size);
#pragma omp parallel
  {
    Block *padded = (Block *)aligned_alloc(64, sizeof(Block) * area);
    Block *sums = (Block *)aligned_alloc(64, sizeof(Block) * area);
#pragma omp for schedule(dynamic)
    for (long channel = 0; channel < channels; channel += lanes)
      for (long image = 0; image < images; image++)
        add(input + image * height * width * channels, gradient + image * rows * columns * channels, weights,
            input_gradient ? input_gradient + image * height * width * channels : nullptr, weights_gradient, shape,
            channel, padded, sums);
    free(padded);
    free(sums);
  }
}
