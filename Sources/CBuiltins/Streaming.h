// Why this header exists: neither Swift nor the compiler's Builtin module has a store that passes the caches.
#pragma once

#if defined(__AVX512F__)
typedef float streamed_vector __attribute__((ext_vector_type(16)));
#elif defined(__AVX2__)
typedef float streamed_vector __attribute__((ext_vector_type(8)));
#else
typedef float streamed_vector __attribute__((ext_vector_type(4)));
#endif

// The address is a multiple of the vector's size.
static inline void store_streamed(streamed_vector vector, float *address) {
  __builtin_nontemporal_store(vector, (streamed_vector *)address);
}

// Before another thread is told of what was stored: on x86 these stores follow no order.
static inline void finish_streamed_stores(void) {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}
