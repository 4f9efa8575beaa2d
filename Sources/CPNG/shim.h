// Why this module exists: PNG files are read by libpng, whose errors are longjmps that must not cross Swift frames.
// Every function that calls libpng sets its own jump target and returns a status instead.
#pragma once
#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

typedef enum {
  CPNG_OK = 0,
  CPNG_CORRUPT = 1,
  CPNG_TRUNCATED = 2,
  CPNG_TOO_SLOW = 3,
  CPNG_OUT_OF_MEMORY = 4
} cpng_status;

typedef struct {
  const uint8_t *bytes;
  size_t count;
  size_t position;
  // Bytes of the chunk at `position` that are still to be handed to libpng.
  size_t left_in_chunk;
  int ran_out;
  // Image data were seen, and since then a chunk that libpng was not shown.
  int in_image_data, after_gap;
  png_structp png;
  png_infop info;
  uint32_t width, height;
  int bit_depth, color_type, is_interlaced;
  // When decoding must be over, in seconds of the monotonic clock; 0: never.
  double deadline;
  int is_late;
  // The number of libpng's warnings, and the first of them.
  long warning_count;
  char warning[256];
  // The data end after the last row: the end chunk is missing.
  int lacks_end;
  // The colours of a palette, from when they are seen until an alpha of theirs is.
  size_t palette_count;
  // Flags: pixels have an alpha; that of a pixel is above 0.
  int has_alpha, is_visible;
  // The passes over the rows: one, or seven if they are interlaced.
  int passes;
  uint32_t rows_read;
  char message[256];
} cpng_reader;

static inline uint32_t cpng_big_endian_32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

// libpng stops at a chunk above this; a longer text chunk is left out so that the image can still be read.
enum { CPNG_CHUNK_LIMIT = 8000000, CPNG_CHUNK_COUNT_LIMIT = 8 };

// True if the pixels or the orientation depend on the chunk. Everything else (colour profiles, gamma, private data)
// is kept from libpng, so it costs no memory and cannot fail.
static inline int cpng_is_needed(const uint8_t *chunk, size_t available, size_t length) {
  const uint8_t *type = chunk + 4;
  if ((type[0] & 0x20) == 0) return 1;
  if (length > CPNG_CHUNK_LIMIT) return 0;
  if (memcmp(type, "eXIf", 4) == 0) return 1;
  if (memcmp(type, "tEXt", 4) != 0 && memcmp(type, "zTXt", 4) != 0 && memcmp(type, "iTXt", 4) != 0) return 0;
  static const char raw_profile[] = "Raw profile type exif", xmp[] = "XML:com.adobe.xmp";
  const uint8_t *keyword = chunk + 8;
  size_t bytes = available - 8 < length ? available - 8 : length;
  return (bytes >= sizeof raw_profile && memcmp(keyword, raw_profile, sizeof raw_profile) == 0) ||
         (bytes >= sizeof xmp && memcmp(keyword, xmp, sizeof xmp) == 0);
}

// True if it is the alpha of a palette's colours, in its place and no longer than the palette: libpng warns of any other,
// which Pillow passes over.
static inline int cpng_is_palette_alpha(cpng_reader *reader, const uint8_t *chunk, size_t length) {
  if (reader->position < 33 || reader->in_image_data || reader->bytes[25] != PNG_COLOR_TYPE_PALETTE) return 0;
  if (memcmp(chunk + 4, "PLTE", 4) == 0) reader->palette_count = length / 3;
  if (memcmp(chunk + 4, "tRNS", 4) != 0 || length == 0 || length > reader->palette_count) return 0;
  reader->palette_count = 0;
  return 1;
}

static inline void cpng_advance_to_needed_chunk(cpng_reader *reader) {
  for (;;) {
    const uint8_t *chunk = reader->bytes + reader->position;
    size_t available = reader->count - reader->position;
    if (available < 12) {
      reader->left_in_chunk = available;
      return;
    }
    size_t length = cpng_big_endian_32(chunk), whole = length + 12;
    if (memcmp(chunk + 4, "IDAT", 4) == 0) {
      if (reader->after_gap) png_error(reader->png, "the image data are not in one piece");
      reader->in_image_data = 1;
    }
    if (cpng_is_palette_alpha(reader, chunk, length) || length > 0x7fffffff || cpng_is_needed(chunk, available, length)) {
      reader->left_in_chunk = whole;
      return;
    }
    reader->after_gap = reader->in_image_data;
    reader->position = whole < available ? reader->position + whole : reader->count;
  }
}

static inline void cpng_on_error(png_structp png, png_const_charp message) {
  cpng_reader *reader = (cpng_reader *)png_get_error_ptr(png);
  strncpy(reader->message, message, sizeof reader->message - 1);
  png_longjmp(png, 1);
}

static inline void cpng_on_warning(png_structp png, png_const_charp message) {
  cpng_reader *reader = (cpng_reader *)png_get_error_ptr(png);
  if (reader->warning_count++ == 0) strncpy(reader->warning, message, sizeof reader->warning - 1);
}

static inline void cpng_ignore_warning(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

static inline double cpng_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Why libpng left the function that called it.
static inline cpng_status cpng_failure(const cpng_reader *reader) {
  if (reader->is_late) return CPNG_TOO_SLOW;
  if (reader->ran_out) return CPNG_TRUNCATED;
  return strstr(reader->message, "emory") != NULL ? CPNG_OUT_OF_MEMORY : CPNG_CORRUPT;
}

static inline void cpng_on_read(png_structp png, png_bytep into, size_t count) {
  cpng_reader *reader = (cpng_reader *)png_get_io_ptr(png);
  while (count > 0) {
    if (reader->left_in_chunk == 0) cpng_advance_to_needed_chunk(reader);
    size_t available = reader->count - reader->position;
    size_t part = count < reader->left_in_chunk ? count : reader->left_in_chunk;
    if (part > available) part = available;
    if (part == 0) {
      reader->ran_out = 1;
      png_error(png, "the data end early");
    }
    memcpy(into, reader->bytes + reader->position, part);
    reader->position += part;
    reader->left_in_chunk -= part;
    into += part;
    count -= part;
  }
}

// The bytes must outlive the reader. Returns NULL when there is no memory.
static inline cpng_reader *cpng_open(const uint8_t *bytes, size_t count) {
  cpng_reader *reader = (cpng_reader *)calloc(1, sizeof(cpng_reader));
  if (reader == NULL) return NULL;
  reader->bytes = bytes;
  reader->count = count;
  reader->left_in_chunk = 8;  // the signature
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, cpng_on_error, cpng_on_warning);
  if (reader->png != NULL) reader->info = png_create_info_struct(reader->png);
  if (reader->info == NULL) {
    png_destroy_read_struct(&reader->png, NULL, NULL);
    free(reader);
    return NULL;
  }
  return reader;
}

static inline void cpng_close(cpng_reader *reader) {
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  free(reader);
}

// Reads up to the first image data and fills in the size, the bit depth and the colour type.
static inline cpng_status cpng_read_header(cpng_reader *reader) {
  if (setjmp(png_jmpbuf(reader->png))) return cpng_failure(reader);
  png_set_read_fn(reader->png, reader, cpng_on_read);
  png_set_user_limits(reader->png, 0x7fffffff, 0x7fffffff);
  png_set_chunk_malloc_max(reader->png, CPNG_CHUNK_LIMIT);
  png_set_chunk_cache_max(reader->png, CPNG_CHUNK_COUNT_LIMIT);
  png_set_crc_action(reader->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  // libpng would drop an eXIf chunk that does not start like TIFF; Pillow also takes one that starts with "Exif\0\0".
  png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_ALWAYS, (png_const_bytep) "eXIf", 1);
  png_read_info(reader->png, reader->info);
  png_uint_32 width, height;
  int interlacing;
  png_get_IHDR(reader->png, reader->info, &width, &height, &reader->bit_depth, &reader->color_type, &interlacing, NULL,
               NULL);
  reader->is_interlaced = interlacing != PNG_INTERLACE_NONE;
  reader->width = width;
  reader->height = height;
  return CPNG_OK;
}

// Drops the alpha of a row of 8-bit RGBA, in place of png_set_strip_alpha, which does not tell what it was.
static inline void cpng_drop_alpha(png_structp png, png_row_infop row, png_bytep pixels) {
  cpng_reader *reader = (cpng_reader *)png_get_io_ptr(png);
  if (row->channels != 4) return;
  reader->has_alpha = 1;
  for (png_uint_32 x = 0; !reader->is_visible && x < row->width; x++) reader->is_visible = pixels[4 * (size_t)x + 3] != 0;
  for (png_uint_32 x = 0; x < row->width; x++) memmove(pixels + 3 * (size_t)x, pixels + 4 * (size_t)x, 3);
}

// Makes libpng ready to give the pixels as 8-bit RGB.
static inline cpng_status cpng_start(cpng_reader *reader) {
  if (setjmp(png_jmpbuf(reader->png))) return cpng_failure(reader);
  png_set_expand_gray_1_2_4_to_8(reader->png);
  if (reader->color_type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader->png);
  png_set_strip_16(reader->png);
  png_set_read_user_transform_fn(reader->png, cpng_drop_alpha);
  png_set_user_transform_info(reader->png, NULL, 8, 3);
  if ((reader->color_type & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(reader->png);
  reader->passes = png_set_interlace_handling(reader->png);
  png_read_update_info(reader->png, reader->info);
  if (png_get_rowbytes(reader->png, reader->info) != (size_t)reader->width * 3) png_error(reader->png, "unexpected row size");
  return CPNG_OK;
}

// Writes the next row, [width, 3]; of an interlaced image what this pass has of it, if anything.
static inline cpng_status cpng_read_row(cpng_reader *reader, uint8_t *rgb) {
  if (setjmp(png_jmpbuf(reader->png))) return cpng_failure(reader);
  if (reader->deadline > 0 && reader->rows_read++ % 16 == 0 && cpng_now() > reader->deadline) {
    reader->is_late = 1;
    png_error(reader->png, "out of time");
  }
  png_read_row(reader->png, rgb, NULL);
  return CPNG_OK;
}

// Writes all rows, [height, width, 3].
static inline cpng_status cpng_read_rows(cpng_reader *reader, uint8_t *rgb) {
  for (int pass = 0; pass < reader->passes; pass++) {
    for (uint32_t y = 0; y < reader->height; y++) {
      cpng_status status = cpng_read_row(reader, rgb + (size_t)y * reader->width * 3);
      if (status != CPNG_OK) return status;
    }
  }
  return CPNG_OK;
}

// Reads what follows the image data. Pillow, too, accepts a file that ends after the last row.
static inline cpng_status cpng_finish(cpng_reader *reader) {
  if (setjmp(png_jmpbuf(reader->png))) {
    reader->lacks_end = reader->ran_out;
    return reader->lacks_end ? CPNG_OK : cpng_failure(reader);
  }
  png_read_end(reader->png, reader->info);
  return CPNG_OK;
}

// The library's version, such as `1.6.39`.
static inline const char *cpng_version(void) { return png_get_libpng_ver(NULL); }

// The contents of the last eXIf chunk, or NULL.
static inline const uint8_t *cpng_exif(cpng_reader *reader, size_t *count) {
  png_unknown_chunkp chunks = NULL;
  int chunk_count = png_get_unknown_chunks(reader->png, reader->info, &chunks);
  for (int i = chunk_count - 1; i >= 0; i--) {
    if (memcmp(chunks[i].name, "eXIf", 4) != 0) continue;
    *count = chunks[i].size;
    return chunks[i].data;
  }
  return NULL;
}

// The text of the last tEXt, zTXt or iTXt chunk with this keyword, inflated, or NULL.
static inline const char *cpng_text(cpng_reader *reader, const char *keyword, size_t *count) {
  png_textp texts = NULL;
  int text_count = 0;
  png_get_text(reader->png, reader->info, &texts, &text_count);
  for (int i = text_count - 1; i >= 0; i--) {
    if (strcmp(texts[i].key, keyword) != 0) continue;
    *count = texts[i].compression >= PNG_ITXT_COMPRESSION_NONE ? texts[i].itxt_length : texts[i].text_length;
    return texts[i].text;
  }
  return NULL;
}

// Inflates data of zlib's format up to their end or until `into` is full. Returns how many bytes there are.
static inline size_t cpng_inflate(const uint8_t *bytes, size_t count, uint8_t *into, size_t capacity) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (inflateInit(&stream) != Z_OK) return 0;
  stream.next_in = (Bytef *)bytes;
  stream.avail_in = (uInt)count;
  stream.next_out = into;
  stream.avail_out = (uInt)capacity;
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return capacity - stream.avail_out;
}

// An encoded file that grows as libpng writes it; `bytes` is the caller's to free with cpng_free.
typedef struct {
  uint8_t *bytes;
  size_t count, capacity;
  char message[256];
} cpng_file;

static inline void cpng_free(cpng_file *file) { free(file->bytes); }

static inline void cpng_on_write_error(png_structp png, png_const_charp message) {
  cpng_file *file = (cpng_file *)png_get_error_ptr(png);
  strncpy(file->message, message, sizeof file->message - 1);
  png_longjmp(png, 1);
}

static inline void cpng_on_write(png_structp png, png_bytep from, size_t count) {
  cpng_file *file = (cpng_file *)png_get_io_ptr(png);
  if (count > file->capacity - file->count) {
    size_t capacity = file->capacity * 2 + count + 4096;
    uint8_t *grown = (uint8_t *)realloc(file->bytes, capacity);
    if (grown == NULL) png_error(png, "out of memory");
    file->bytes = grown;
    file->capacity = capacity;
  }
  memcpy(file->bytes + file->count, from, count);
  file->count += count;
}

static inline void cpng_on_flush(png_structp png) { (void)png; }

// Encodes 8-bit RGB, row-major [height, width, 3], with one tEXt chunk for each pair of keyword and Latin-1 text.
// The file must be zeroed; a failure leaves its reason in `message`.
static inline cpng_status cpng_encode(
    const uint8_t *rgb, uint32_t width, uint32_t height, const char *const *keywords, const char *const *texts,
    int text_count, cpng_file *file) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, file, cpng_on_write_error, cpng_ignore_warning);
  if (png == NULL) return CPNG_CORRUPT;
  png_infop info = png_create_info_struct(png);
  if (info == NULL) {
    png_destroy_write_struct(&png, NULL);
    return CPNG_CORRUPT;
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return CPNG_CORRUPT;
  }
  png_set_write_fn(png, file, cpng_on_write, cpng_on_flush);
  // Half of zlib's default effort: a photograph comes out some percent larger in a third of the time.
  png_set_compression_level(png, 3);
  png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  for (int i = 0; i < text_count; i++) {
    png_text text;
    memset(&text, 0, sizeof text);
    text.compression = PNG_TEXT_COMPRESSION_NONE;
    text.key = (png_charp)keywords[i];
    text.text = (png_charp)texts[i];
    text.text_length = strlen(texts[i]);
    png_set_text(png, info, &text, 1);
  }
  png_write_info(png, info);
  for (uint32_t y = 0; y < height; y++) png_write_row(png, rgb + (size_t)y * width * 3);
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  return CPNG_OK;
}
