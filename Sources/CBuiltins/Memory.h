// Why this module exists: Swift's module of glibc leaves <malloc.h> out.
#pragma once

// As in glibc's <malloc.h>. Other C libraries have no such function.
extern int mallopt(int option, int value);

static inline void keep_freed_memory(int mapped_from, int trimmed_from) {
  enum { trim_threshold = -1, mmap_threshold = -3 };
  mallopt(mmap_threshold, mapped_from);
  mallopt(trim_threshold, trimmed_from);
}
