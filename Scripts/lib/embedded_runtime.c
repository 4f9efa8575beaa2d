// What Embedded Swift's standard library calls, and a machine without an operating system does not have.

double strtod(const char *text, char **end);

// Reads a number in the C locale, which is the only one there. Returns the place behind it, or null where none begins.
const char *_swift_stdlib_strtod_clocale(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end == text ? 0 : end;
}

#if defined(__wasm__)
unsigned long __stack_chk_guard = 0x595e9fbd;
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

// The product of two 128-bit numbers, which the compiler does not write out. Its shifts by 64 need no help.
unsigned __int128 __multi3(unsigned __int128 a, unsigned __int128 b) {
  unsigned long long low = (unsigned long long)a, other = (unsigned long long)b;
  unsigned long long a0 = low & 0xffffffff, a1 = low >> 32, b0 = other & 0xffffffff, b1 = other >> 32;
  unsigned long long middle = a1 * b0 + (a0 * b0 >> 32);
  unsigned long long carry = (middle & 0xffffffff) + a0 * b1;
  unsigned long long high = a1 * b1 + (middle >> 32) + (carry >> 32);
  high += (unsigned long long)(a >> 64) * other + low * (unsigned long long)(b >> 64);
  return (unsigned __int128)high << 64 | low * other;
}
#endif
