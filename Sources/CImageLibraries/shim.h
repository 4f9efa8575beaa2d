// Why this module exists: libheif returns a struct, libopenjp2 gives its image as structs, and libtiff sets tags and reports errors with variable arguments. Swift can
// call neither through a pointer from dlsym. The declarations are those of the libraries' stable interfaces; their headers are
// not needed to build.
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// libheif: what each call returns; code 0 is success, the message belongs to libheif.
typedef struct {
  int code;
  int subcode;
  const char *message;
} cheif_error;

// libheif: which colours the values of an image mean, by the numbers of ITU-T H.273. Later versions have more fields.
typedef struct {
  uint8_t version;
  int primaries;
  int transfer;
  int matrix;
  uint8_t is_full_range;
} cheif_nclx;

typedef cheif_error (*cheif_nclx_function)(const void *handle, cheif_nclx **profile);
typedef cheif_error (*cheif_read_function)(void *context, const void *bytes, size_t count, const void *options);
typedef cheif_error (*cheif_primary_function)(void *context, void **handle);
typedef cheif_error (*cheif_decode_function)(
    const void *handle, void **image, int colorspace, int chroma, const void *options);

// libtiff: TIFFSetField(tiff, tag, value) for a tag whose value is an int.
static inline int ctiff_set_int(void *set_field, void *tiff, uint32_t tag, int value) {
  return ((int (*)(void *, uint32_t, ...))set_field)(tiff, tag, value);
}

// The place of libtiff's first error; it is the user's data of TIFFOpenOptionsSetErrorHandlerExtR.
typedef struct {
  char message[256];
} ctiff_report;

// A TIFFErrorHandlerExtR: 1 means that no other handler is called.
static inline int ctiff_keep_error(void *tiff, void *report, const char *module, const char *format, va_list values) {
  (void)tiff;
  (void)module;
  char *message = ((ctiff_report *)report)->message;
  if (message[0] == 0) vsnprintf(message, sizeof ((ctiff_report *)report)->message, format, values);
  return 1;
}

static inline int ctiff_ignore_warning(void *tiff, void *report, const char *module, const char *format, va_list values) {
  (void)tiff;
  (void)report;
  (void)module;
  (void)format;
  (void)values;
  return 1;
}

// Sends a file's errors to the report and its warnings nowhere. The functions are TIFFOpenOptionsSetErrorHandlerExtR and
// TIFFOpenOptionsSetWarningHandlerExtR.
static inline void ctiff_set_handlers(void *set_error, void *set_warning, void *options, ctiff_report *report) {
  typedef int (*handler)(void *, void *, const char *, const char *, va_list);
  typedef void (*setter)(void *, handler, void *);
  ((setter)set_error)(options, ctiff_keep_error, report);
  ((setter)set_warning)(options, ctiff_ignore_warning, NULL);
}

// libopenjp2: an image and its components, by the layout that its versions 2.1 and later share.
typedef struct {
  uint32_t dx, dy, w, h, x0, y0, prec, bpp, sgnd, resno_decoded, factor;
  int32_t *data;
  uint16_t alpha;
} copj_component;

typedef struct {
  uint32_t x0, y0, x1, y1, numcomps;
  int color_space;
  copj_component *comps;
  uint8_t *icc_profile_buf;
  uint32_t icc_profile_len;
} copj_image;

typedef void (*copj_message_function)(const char *message, void *report);
typedef size_t (*copj_read_function)(void *into, size_t count, void *source);
typedef int64_t (*copj_skip_function)(int64_t count, void *source);
typedef int (*copj_seek_function)(int64_t position, void *source);

// The place of libopenjp2's first error.
typedef struct {
  char message[256];
} copj_report;

static inline void copj_keep_error(const char *message, void *report) {
  char *kept = ((copj_report *)report)->message;
  if (kept[0] == 0) snprintf(kept, sizeof ((copj_report *)report)->message, "%s", message);
}

// A code stream in memory.
typedef struct {
  const uint8_t *bytes;
  size_t count, position;
} copj_source;

// libopenjp2 takes (size_t)-1 for the end of the data.
static inline size_t copj_read(void *into, size_t count, void *user) {
  copj_source *source = (copj_source *)user;
  size_t left = source->count - source->position;
  if (left == 0) return (size_t)-1;
  if (count > left) count = left;
  memcpy(into, source->bytes + source->position, count);
  source->position += count;
  return count;
}

static inline int64_t copj_skip(int64_t count, void *user) {
  copj_source *source = (copj_source *)user;
  if (count < 0 || (uint64_t)count > source->count - source->position) return -1;
  source->position += (size_t)count;
  return count;
}

static inline int copj_seek(int64_t position, void *user) {
  copj_source *source = (copj_source *)user;
  if (position < 0 || (uint64_t)position > source->count) return 0;
  source->position = (size_t)position;
  return 1;
}
