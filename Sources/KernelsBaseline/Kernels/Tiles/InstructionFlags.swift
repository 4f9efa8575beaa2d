import CBuiltins

/// Whether the compiler was given the flags of this module's instruction set. Unlike everything else here it runs on
/// any CPU: it returns a constant.
public func isBuiltForInstructionSet() -> Bool {
  #if KERNEL_DOT_PRODUCT && KERNEL_AVX512
    caller_is_built_for_avx512vnni()
  #elseif KERNEL_DOT_PRODUCT
    caller_is_built_for_dotprod()
  #elseif KERNEL_AVX512
    caller_is_built_for_avx512()
  #elseif KERNEL_AVX2
    caller_is_built_for_avx2_fma()
  #else
    true
  #endif
}
