// Why this header exists: Swift's vectors have no bfloat16, and the compiler's Builtin module none either. For modules that are
// compiled with these instructions.
#pragma once

#if defined(__AVX512BF16__)
typedef float bf16_sums __attribute__((ext_vector_type(16)));
// Two bfloat16 in each lane, the first in the lower half.
typedef int bf16_pairs __attribute__((ext_vector_type(16)));
typedef int bf16_half_pairs __attribute__((ext_vector_type(8)));
typedef __bf16 bf16_operand __attribute__((vector_size(64)));
typedef float bf16_floats __attribute__((vector_size(64)));

// VDPBF16PS: sums + the product of the second values, rounded, + the product of the first values, rounded.
static inline bf16_sums bf16_add_products(bf16_sums sums, bf16_pairs a, bf16_pairs b) {
  return (bf16_sums)__builtin_ia32_dpbf16ps_512((bf16_floats)sums, (bf16_operand)a, (bf16_operand)b);
}
// VCVTNE2PS2BF16: the nearest bfloat16 of 32 floats, halves to the even one.
static inline bf16_pairs bf16_rounded(bf16_sums first, bf16_sums second) {
  return (bf16_pairs)__builtin_ia32_cvtne2ps2bf16_512((bf16_floats)second, (bf16_floats)first);
}
#endif
