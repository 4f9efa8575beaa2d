// Why this module exists: Swift can ask neither the CPU nor the compiler which instructions there are, and has no names
// for those that are neither arithmetic nor a move.
#pragma once
#include <stdbool.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__APPLE__)
// As in <sys/sysctl.h>, which a machine without Apple's headers lacks: Scripts/checks/platforms compiles there for Apple.
extern int sysctlbyname(const char *, void *, __SIZE_TYPE__ *, void *, __SIZE_TYPE__);
#endif

#if defined(__x86_64__)
// __builtin_cpu_supports also asks the operating system whether it saves the wide registers.
static inline bool cpu_runs_avx2_fma(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static inline bool cpu_runs_avxvnni(void) {
  unsigned a, b, c, d;
  return cpu_runs_avx2_fma() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}
static inline bool cpu_runs_avx512(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
static inline bool cpu_runs_avx512vnni(void) {
  __builtin_cpu_init();
  return cpu_runs_avx512() && __builtin_cpu_supports("avx512vnni");
}
static inline bool cpu_runs_avx512bf16(void) {
  __builtin_cpu_init();
  return cpu_runs_avx512vnni() && __builtin_cpu_supports("avx512bf16");
}
static inline bool cpu_runs_sha256(void) {
  unsigned a, b, c, d;
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}
#else
static inline bool cpu_runs_avx2_fma(void) { return false; }
static inline bool cpu_runs_avxvnni(void) { return false; }
static inline bool cpu_runs_avx512(void) { return false; }
static inline bool cpu_runs_avx512vnni(void) { return false; }
static inline bool cpu_runs_avx512bf16(void) { return false; }
#endif

// Every chip of Apple for a Mac has it; elsewhere the system says which the CPU has.
#if defined(__aarch64__) && defined(__APPLE__)
static inline bool cpu_runs_dotprod(void) {
  int value = 0;
  __SIZE_TYPE__ size = sizeof value;
  return sysctlbyname("hw.optional.arm.FEAT_DotProd", &value, &size, 0, 0) == 0 && value != 0;
}
#elif defined(__aarch64__)
// The C library's; a system without one has no answer.
extern unsigned long getauxval(unsigned long) __attribute__((weak));
static inline bool cpu_runs_dotprod(void) {
  return getauxval && getauxval(16) >> 20 & 1;  // AT_HWCAP, HWCAP_ASIMDDP
}
#else
static inline bool cpu_runs_dotprod(void) { return false; }
#endif

#if defined(__SHA__)
// SHA256RNDS2, SHA256MSG1 and SHA256MSG2, for modules that are compiled with them.
typedef unsigned sha256_words __attribute__((ext_vector_type(4)));
typedef int sha256_operand __attribute__((vector_size(16)));
static inline sha256_words sha256_two_rounds(sha256_words ghcd, sha256_words efab, sha256_words sums) {
  return (sha256_words)__builtin_ia32_sha256rnds2(
      (sha256_operand)ghcd, (sha256_operand)efab, (sha256_operand)sums);
}
static inline sha256_words sha256_schedule1(sha256_words w0, sha256_words w1) {
  return (sha256_words)__builtin_ia32_sha256msg1((sha256_operand)w0, (sha256_operand)w1);
}
static inline sha256_words sha256_schedule2(sha256_words sums, sha256_words w3) {
  return (sha256_words)__builtin_ia32_sha256msg2((sha256_operand)sums, (sha256_operand)w3);
}
#endif

// These answer for the module that calls them, as it was compiled: an inline function is emitted with its caller's flags.
static inline bool caller_is_built_for_avx2_fma(void) {
#if defined(__AVX2__) && defined(__FMA__)
  return true;
#else
  return false;
#endif
}
static inline bool caller_is_built_for_avxvnni(void) {
#if defined(__AVXVNNI__)
  return caller_is_built_for_avx2_fma();
#else
  return false;
#endif
}
static inline bool caller_is_built_for_avx512(void) {
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
  return true;
#else
  return false;
#endif
}
static inline bool caller_is_built_for_avx512vnni(void) {
#if defined(__AVX512VNNI__)
  return caller_is_built_for_avx512();
#else
  return false;
#endif
}

// On ARM, or in WebAssembly.
static inline bool caller_is_built_for_dotprod(void) {
#if defined(__ARM_FEATURE_DOTPROD) || defined(__wasm_relaxed_simd__)
  return true;
#else
  return false;
#endif
}

// Tells the core that the thread is spinning, so that its sibling and the memory bus are left in peace.
static inline void cpu_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Asks for the cache line, which need not be mapped.
static inline void prefetch(const float *address) { __builtin_prefetch(address, 0, 2); }

// Denormals cost a hundred times a normal multiplication. Returns the state to restore with set_float_state.
static inline unsigned long long get_float_state(void) {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  unsigned long long state;
  __asm__ volatile("mrs %0, fpcr" : "=r"(state));
  return state;
#else
  return 0;
#endif
}
static inline void set_float_state(unsigned long long state) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr((unsigned)state);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(state));
#endif
}
static inline void flush_denormals_to_zero(void) {
#if defined(__x86_64__)
  set_float_state(get_float_state() | 0x8040);  // FTZ and DAZ
#elif defined(__aarch64__)
  set_float_state(get_float_state() | (1ull << 24));  // FZ
#endif
}
