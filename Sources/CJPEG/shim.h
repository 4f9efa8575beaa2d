// Why this module exists: JPEG files are read by libjpeg-turbo, whose errors are longjmps that must not cross Swift frames.
// Every function that calls libjpeg sets its own jump target and returns a status instead.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <jpeglib.h>
#include <jerror.h>

typedef enum { CJPEG_OK = 0, CJPEG_CORRUPT = 1, CJPEG_TRUNCATED = 2, CJPEG_OUT_OF_MEMORY = 3 } cjpeg_status;

// Each scan of a progressive file passes over the whole image, so a small file with thousands of empty scans would
// take minutes. Real files have about ten; libjpeg-turbo's own fuzzers stop at this number too.
enum { CJPEG_SCAN_LIMIT = 500 };

// What a segment holds after its length; the bytes are the file's own.
typedef struct {
  const uint8_t *bytes;
  size_t count;
} cjpeg_segment;

typedef struct {
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  cjpeg_segment *app1;
  size_t app1_count, app1_capacity;
  jmp_buf jump;
} cjpeg_state;

typedef struct {
  cjpeg_state *state;
  uint32_t width, height;
  int components;
  // Only 3 (RGB; grey is replicated) and 4 (CMYK as stored).
  int output_components;
  int is_arithmetic;
  uint32_t rows_read;
  char message[JMSG_LENGTH_MAX];
} cjpeg_reader;

// Where the longjmps of libjpeg's error handler end. C lets setjmp stand only in a condition like this.
#define CJPEG_RETURN_ON_ERROR(reader)                 \
  switch (setjmp((reader)->state->jump)) {            \
    case CJPEG_OK: break;                             \
    case CJPEG_TRUNCATED: return CJPEG_TRUNCATED;     \
    case CJPEG_OUT_OF_MEMORY: return CJPEG_OUT_OF_MEMORY; \
    default: return CJPEG_CORRUPT;                    \
  }

static inline void cjpeg_on_error(j_common_ptr info) {
  cjpeg_reader *reader = (cjpeg_reader *)info->client_data;
  info->err->format_message(info, reader->message);
  switch (info->err->msg_code) {
    // The arithmetic decoder cannot wait for more data: this is how it says that there are none.
    case JERR_CANT_SUSPEND: longjmp(reader->state->jump, CJPEG_TRUNCATED);
    case JERR_OUT_OF_MEMORY: longjmp(reader->state->jump, CJPEG_OUT_OF_MEMORY);
    default: longjmp(reader->state->jump, CJPEG_CORRUPT);
  }
}

static inline void cjpeg_on_message(j_common_ptr info) { (void)info; }

static inline void cjpeg_on_progress(j_common_ptr info) {
  if (((j_decompress_ptr)info)->input_scan_number <= CJPEG_SCAN_LIMIT) return;
  cjpeg_reader *reader = (cjpeg_reader *)info->client_data;
  snprintf(reader->message, sizeof reader->message, "more than %d scans", CJPEG_SCAN_LIMIT);
  longjmp(reader->state->jump, CJPEG_CORRUPT);
}

static inline void cjpeg_do_nothing(j_decompress_ptr info) { (void)info; }

// Suspends instead of inventing an end-of-image marker: that tells truncated files from whole ones, as Pillow does.
static inline boolean cjpeg_on_empty(j_decompress_ptr info) {
  (void)info;
  return FALSE;
}

static inline void cjpeg_on_skip(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  size_t step = (size_t)count < info->src->bytes_in_buffer ? (size_t)count : info->src->bytes_in_buffer;
  info->src->next_input_byte += step;
  info->src->bytes_in_buffer -= step;
}

// Notes where an APP1 segment lies. libjpeg's own way to keep segments walks the list of those before for each new one:
// a file of a million empty ones would take hours.
static inline boolean cjpeg_on_app1(j_decompress_ptr info) {
  cjpeg_state *state = ((cjpeg_reader *)info->client_data)->state;
  struct jpeg_source_mgr *source = info->src;
  if (source->bytes_in_buffer < 2) return FALSE;
  size_t stated = (size_t)source->next_input_byte[0] << 8 | source->next_input_byte[1];
  size_t length = stated < 2 ? 2 : stated;
  if (source->bytes_in_buffer < length) return FALSE;
  if (state->app1_count == state->app1_capacity) {
    size_t capacity = state->app1_capacity == 0 ? 8 : 2 * state->app1_capacity;
    cjpeg_segment *grown = (cjpeg_segment *)realloc(state->app1, capacity * sizeof(cjpeg_segment));
    if (grown == NULL) longjmp(state->jump, CJPEG_OUT_OF_MEMORY);
    state->app1 = grown;
    state->app1_capacity = capacity;
  }
  state->app1[state->app1_count].bytes = source->next_input_byte + 2;
  state->app1[state->app1_count].count = length - 2;
  state->app1_count += 1;
  source->next_input_byte += length;
  source->bytes_in_buffer -= length;
  return TRUE;
}

static inline void cjpeg_close(cjpeg_reader *reader) {
  // Allocates nothing and raises no error, so it needs no jump target.
  jpeg_destroy_decompress(&reader->state->info);
  free(reader->state->app1);
  free(reader->state);
  free(reader);
}

// The bytes must outlive the reader. Returns NULL when there is no memory.
static inline cjpeg_reader *cjpeg_open(const uint8_t *bytes, size_t count) {
  cjpeg_reader *reader = (cjpeg_reader *)calloc(1, sizeof(cjpeg_reader));
  if (reader == NULL) return NULL;
  cjpeg_state *state = (cjpeg_state *)calloc(1, sizeof(cjpeg_state));
  if (state == NULL) {
    free(reader);
    return NULL;
  }
  reader->state = state;
  state->info.err = jpeg_std_error(&state->errors);
  state->info.client_data = reader;
  state->errors.error_exit = cjpeg_on_error;
  state->errors.output_message = cjpeg_on_message;
  if (setjmp(state->jump)) {
    cjpeg_close(reader);
    return NULL;
  }
  jpeg_create_decompress(&state->info);
  state->source.init_source = cjpeg_do_nothing;
  state->source.fill_input_buffer = cjpeg_on_empty;
  state->source.skip_input_data = cjpeg_on_skip;
  state->source.resync_to_restart = jpeg_resync_to_restart;
  state->source.term_source = cjpeg_do_nothing;
  state->source.next_input_byte = bytes;
  state->source.bytes_in_buffer = count;
  state->info.src = &state->source;
  state->progress.progress_monitor = cjpeg_on_progress;
  state->info.progress = &state->progress;
  return reader;
}

// Reads up to the first scan and fills in the size and the number of components.
static inline cjpeg_status cjpeg_read_header(cjpeg_reader *reader) {
  struct jpeg_decompress_struct *info = &reader->state->info;
  CJPEG_RETURN_ON_ERROR(reader)
  jpeg_set_marker_processor(info, JPEG_APP0 + 1, cjpeg_on_app1);
  int status;
  do {
    status = jpeg_read_header(info, FALSE);
  } while (status == JPEG_HEADER_TABLES_ONLY);
  if (status == JPEG_SUSPENDED) return CJPEG_TRUNCATED;
  reader->width = info->image_width;
  reader->height = info->image_height;
  reader->components = info->num_components;
  reader->is_arithmetic = info->arith_code;
  info->out_color_space = info->num_components == 4 ? JCS_CMYK : JCS_RGB;
  reader->output_components = info->num_components == 4 ? 4 : 3;
  return CJPEG_OK;
}

// Starts decoding with libjpeg's defaults: the slow integer DCT and fancy upsampling.
static inline cjpeg_status cjpeg_start(cjpeg_reader *reader) {
  struct jpeg_decompress_struct *info = &reader->state->info;
  CJPEG_RETURN_ON_ERROR(reader)
  if (!jpeg_start_decompress(info)) return CJPEG_TRUNCATED;
  if (info->output_width != reader->width || info->output_height != reader->height ||
      info->output_components != reader->output_components) {
    snprintf(reader->message, sizeof reader->message, "unexpected output size");
    return CJPEG_CORRUPT;
  }
  return CJPEG_OK;
}

// Writes the next `count` rows, [count, width, output_components], and adds to `rows_read`.
static inline cjpeg_status cjpeg_read_rows(cjpeg_reader *reader, uint8_t *rows, uint32_t count) {
  struct jpeg_decompress_struct *info = &reader->state->info;
  CJPEG_RETURN_ON_ERROR(reader)
  size_t row_bytes = (size_t)reader->width * (size_t)reader->output_components;
  for (uint32_t i = 0; i < count; i++) {
    JSAMPROW row = rows + i * row_bytes;
    if (jpeg_read_scanlines(info, &row, 1) != 1) return CJPEG_TRUNCATED;
    reader->rows_read += 1;
  }
  return CJPEG_OK;
}

// Reads what follows the last row. Like Pillow, takes a file that ends there without an end-of-image marker.
static inline cjpeg_status cjpeg_finish(cjpeg_reader *reader) {
  CJPEG_RETURN_ON_ERROR(reader)
  jpeg_finish_decompress(&reader->state->info);
  return CJPEG_OK;
}

// The contents of the APP1 segment with this index, or NULL past the last.
static inline const uint8_t *cjpeg_app1(const cjpeg_reader *reader, size_t index, size_t *count) {
  if (index >= reader->state->app1_count) return NULL;
  *count = reader->state->app1[index].count;
  return reader->state->app1[index].bytes;
}
