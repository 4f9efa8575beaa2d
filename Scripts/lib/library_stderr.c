/*
 * Goes into the shared library beside libpng's and libjpeg's archives. Debian compiles these for programs: their code takes
 * the C library's `stderr` for a variable at a fixed distance, which it is in a program only. Here it is a variable of the
 * shared library's own with the same content.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("hidden"))) void *stderr = NULL;

__attribute__((constructor)) static void find_stderr(void) {
  void **found = dlsym(RTLD_DEFAULT, "stderr");
  if (found != NULL) stderr = *found;
}
