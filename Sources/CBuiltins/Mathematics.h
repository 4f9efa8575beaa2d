// Why this module exists: Swift has log and pow only in the platform's C library, whose module is not there where Swift
// runs without an operating system. The compiler's own names for them need no header.
#pragma once

static inline double c_log(double x) { return __builtin_log(x); }
static inline double c_pow(double base, double exponent) { return __builtin_pow(base, exponent); }
