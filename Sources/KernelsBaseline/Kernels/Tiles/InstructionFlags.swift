import CBuiltins

/// Whether the compiler was given the flags of this module's instruction set. Unlike everything else here it runs on
/// any CPU: it returns a constant.
public func isBuiltForInstructionSet() -> Bool {
  #if KERNEL_BF16
    caller_is_built_for_avx512bf16()
  #elseif KERNEL_VNNI
    caller_is_built_for_avx512vnni()
  #elseif KERNEL_AVX512
    caller_is_built_for_avx512()
  #elseif KERNEL_AVX2
    caller_is_built_for_avx2_fma()
  #else
    true
  #endif
}
