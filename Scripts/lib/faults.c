// Fails the n-th call of one kind in a process that it is preloaded into (LD_PRELOAD), for Scripts/checks/faults.
//
//   FAULT_CALL    malloc, read, write, open, rename, mmap, fsync, close or link
//   FAULT_NUMBER  which call, from 1; 0 fails none
//   FAULT_MODE    fail: the call fails as the system would let it (default)
//                 short: a read or write does one byte, and the next is interrupted
//                 signal: SIGTERM comes before the call
//   FAULT_LINKS   none: every link fails besides, as on a file system without hard links (FAT, exFAT, SMB)
//   FAULT_COUNT   a file that gets the number of calls when the process ends, and of those before main
//
// Writes to standard error are left alone: where they fail, nothing can be told. The calls before main are those of the
// constructors of the C library and of Swift's runtime.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { NONE, FAIL, SHORT, SIGNAL };

static const char *wanted;
static long number;
static int mode = NONE, has_no_links;
static atomic_long count, count_before_main;
static const char *count_path;
static int (*program_main)(int, char **, char **);

static int counted_main(int count_of_arguments, char **arguments, char **environment) {
  atomic_store(&count_before_main, atomic_load(&count));
  return program_main(count_of_arguments, arguments, environment);
}

// The C library's, which runs constructors and then main.
int __libc_start_main(int (*program)(int, char **, char **), int count_of_arguments, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void *stack_end) {
  __typeof__(&__libc_start_main) real = (__typeof__(&__libc_start_main))dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = program;
  return real(counted_main, count_of_arguments, arguments, init, fini, loader_fini, stack_end);
}

// The first call may come before any constructor, when the environment is not there yet.
static void start(void) {
  if (wanted != NULL || environ == NULL) return;
  const char *call = getenv("FAULT_CALL"), *at = getenv("FAULT_NUMBER"), *how = getenv("FAULT_MODE");
  wanted = call != NULL ? call : "";
  if (call == NULL) return;
  number = at != NULL ? atol(at) : 0;
  has_no_links = getenv("FAULT_LINKS") != NULL;
  count_path = getenv("FAULT_COUNT");
  mode = how == NULL || strcmp(how, "fail") == 0 ? FAIL : strcmp(how, "short") == 0 ? SHORT : SIGNAL;
}

__attribute__((destructor)) static void end(void) {
  if (count_path == NULL) return;
  char text[48];
  int length = snprintf(text, sizeof text, "%ld %ld", atomic_load(&count), atomic_load(&count_before_main));
  int file = (int)syscall(SYS_openat, AT_FDCWD, count_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, text, length);
  syscall(SYS_close, file);
}

// Whether this is the call; the signal comes here.
static int strikes(const char *call) {
  start();
  if (mode == NONE || strcmp(call, wanted) != 0) return NONE;
  long place = atomic_fetch_add(&count, 1) + 1;
  if (mode == SHORT && number > 0 && place == number + 1) return FAIL;
  if (place != number) return NONE;
  if (mode == SIGNAL) {
    raise(SIGTERM);
    return NONE;
  }
  return mode;
}

#define RETURN_ERROR(code, value) do { errno = (code); return (value); } while (0)

void *malloc(size_t size) {
  if (strikes("malloc") == FAIL) RETURN_ERROR(ENOMEM, NULL);
  return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
  if (strikes("malloc") == FAIL) RETURN_ERROR(ENOMEM, NULL);
  return __libc_calloc(items, size);
}

void *realloc(void *old, size_t size) {
  if (strikes("malloc") == FAIL) RETURN_ERROR(ENOMEM, NULL);
  return __libc_realloc(old, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (strikes("malloc") == FAIL) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result == NULL ? ENOMEM : 0;
}

ssize_t read(int file, void *bytes, size_t size) {
  int fault = strikes("read");
  if (fault == FAIL) RETURN_ERROR(mode == SHORT ? EINTR : EIO, -1);
  return syscall(SYS_read, file, bytes, fault == SHORT && size > 1 ? 1 : size);
}

ssize_t pread(int file, void *bytes, size_t size, off_t place) {
  int fault = strikes("read");
  if (fault == FAIL) RETURN_ERROR(mode == SHORT ? EINTR : EIO, -1);
  return syscall(SYS_pread64, file, bytes, fault == SHORT && size > 1 ? 1 : size, place);
}

ssize_t write(int file, const void *bytes, size_t size) {
  int fault = file == STDERR_FILENO ? NONE : strikes("write");
  if (fault == FAIL) RETURN_ERROR(mode == SHORT ? EINTR : ENOSPC, -1);
  return syscall(SYS_write, file, bytes, fault == SHORT && size > 1 ? 1 : size);
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t permissions = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (strikes("open") == FAIL) RETURN_ERROR(EMFILE, -1);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, permissions);
}

int rename(const char *from, const char *to) {
  if (strikes("rename") == FAIL) RETURN_ERROR(EIO, -1);
  return (int)syscall(SYS_rename, from, to);
}

int link(const char *from, const char *to) {
  if (strikes("link") == FAIL || has_no_links) RETURN_ERROR(EPERM, -1);
  return (int)syscall(SYS_link, from, to);
}

int fsync(int file) {
  if (strikes("fsync") == FAIL) RETURN_ERROR(EIO, -1);
  return (int)syscall(SYS_fsync, file);
}

int close(int file) {
  int fault = strikes("close");
  int result = (int)syscall(SYS_close, file);
  if (fault == FAIL) RETURN_ERROR(EIO, -1);
  return result;
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  if (strikes("mmap") == FAIL) RETURN_ERROR(ENOMEM, MAP_FAILED);
  return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}
