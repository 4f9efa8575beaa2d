// Why this module exists: JPEG files are read by libjpeg-turbo, whose errors are longjmps that must not cross Swift frames.
// Every function that calls libjpeg sets its own jump target and returns a status instead.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <time.h>
#include <jpeglib.h>
#include <jerror.h>

typedef enum {
  CJPEG_OK = 0,
  CJPEG_CORRUPT = 1,
  CJPEG_TRUNCATED = 2,
  CJPEG_OUT_OF_MEMORY = 3,
  CJPEG_UNSUPPORTED = 4,
  CJPEG_TOO_SLOW = 5
} cjpeg_status;

// Each scan of a progressive file passes over the whole image, so a small file with thousands of empty scans would
// take minutes. Real files have about ten; libjpeg-turbo's own fuzzers stop at this number too.
enum { CJPEG_SCAN_LIMIT = 500 };

// An APP1 or APP2 segment: its number, and what it holds after its length; the bytes are the file's own.
typedef struct {
  int number;
  const uint8_t *bytes;
  size_t count;
} cjpeg_segment;

typedef struct {
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  cjpeg_segment *segments;
  size_t segment_count, segment_capacity;
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
  // When decoding must be over, in seconds of the monotonic clock; 0: never.
  double deadline;
  // The number of libjpeg's warnings, and the first of them.
  long warning_count;
  char warning[JMSG_LENGTH_MAX];
  // The number of stretches of image data that were misread, each of at most a restart interval; of a file without intervals each
  // may be the whole image.
  long misread_count;
  // The end-of-image marker is missing.
  int lacks_end;
  char message[JMSG_LENGTH_MAX];
} cjpeg_reader;

// The place where the longjmps of libjpeg's error handler end. C lets setjmp stand only in a condition like this.
#define CJPEG_RETURN_ON_ERROR(reader)                 \
  switch (setjmp((reader)->state->jump)) {            \
    case CJPEG_OK: break;                             \
    case CJPEG_TRUNCATED: return CJPEG_TRUNCATED;     \
    case CJPEG_OUT_OF_MEMORY: return CJPEG_OUT_OF_MEMORY; \
    case CJPEG_UNSUPPORTED: return CJPEG_UNSUPPORTED; \
    case CJPEG_TOO_SLOW: return CJPEG_TOO_SLOW;       \
    default: return CJPEG_CORRUPT;                    \
  }

static inline void cjpeg_on_error(j_common_ptr info) {
  cjpeg_reader *reader = (cjpeg_reader *)info->client_data;
  info->err->format_message(info, reader->message);
  switch (info->err->msg_code) {
    // The arithmetic decoder cannot wait for more data: this is how it says that there are none.
    case JERR_CANT_SUSPEND: longjmp(reader->state->jump, CJPEG_TRUNCATED);
    case JERR_OUT_OF_MEMORY: longjmp(reader->state->jump, CJPEG_OUT_OF_MEMORY);
    // Lossless, hierarchical, 12-bit and other files that are whole and that this libjpeg was not made for.
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_ARITH_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL: longjmp(reader->state->jump, CJPEG_UNSUPPORTED);
    default: longjmp(reader->state->jump, CJPEG_CORRUPT);
  }
}

static inline void cjpeg_on_message(j_common_ptr info) { (void)info; }

// True if the bytes that libjpeg skipped to find a marker are zeros, with which some cameras fill up their files.
static inline int cjpeg_skipped_only_zeros(j_decompress_ptr info, size_t skipped) {
  // libjpeg warns before it takes the marker: the skipped bytes end where it reads next.
  const uint8_t *end = info->src->next_input_byte;
  for (size_t i = 1; i <= skipped; i++) {
    if (end[-(ptrdiff_t)i] != 0) return 0;
  }
  return 1;
}

// Warnings have a negative level; the others are for tracing.
static inline void cjpeg_on_emit(j_common_ptr common, int level) {
  if (level >= 0) return;
  cjpeg_reader *reader = (cjpeg_reader *)common->client_data;
  j_decompress_ptr info = (j_decompress_ptr)common;
  common->err->num_warnings += 1;
  if (reader->warning_count++ == 0) common->err->format_message(common, reader->warning);
  switch (common->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
      // Before the first scan these are no image data.
      if (info->input_scan_number > 0 && !cjpeg_skipped_only_zeros(info, (size_t)common->err->msg_parm.i[0])) {
        reader->misread_count += 1;
      }
      break;
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC: reader->misread_count += 1; break;
    default: break;
  }
}

static inline double cjpeg_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void cjpeg_on_progress(j_common_ptr info) {
  cjpeg_reader *reader = (cjpeg_reader *)info->client_data;
  if (reader->deadline > 0 && cjpeg_now() > reader->deadline) longjmp(reader->state->jump, CJPEG_TOO_SLOW);
  if (((j_decompress_ptr)info)->input_scan_number <= CJPEG_SCAN_LIMIT) return;
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

// Notes where an APP1 or APP2 segment lies. libjpeg's own way to keep segments walks the list of those before for each new one:
// a file of a million empty ones would take hours.
static inline boolean cjpeg_on_segment(j_decompress_ptr info) {
  cjpeg_state *state = ((cjpeg_reader *)info->client_data)->state;
  struct jpeg_source_mgr *source = info->src;
  if (source->bytes_in_buffer < 2) return FALSE;
  size_t stated = (size_t)source->next_input_byte[0] << 8 | source->next_input_byte[1];
  size_t length = stated < 2 ? 2 : stated;
  if (source->bytes_in_buffer < length) return FALSE;
  if (state->segment_count == state->segment_capacity) {
    size_t capacity = state->segment_capacity == 0 ? 8 : 2 * state->segment_capacity;
    cjpeg_segment *grown = (cjpeg_segment *)realloc(state->segments, capacity * sizeof(cjpeg_segment));
    if (grown == NULL) longjmp(state->jump, CJPEG_OUT_OF_MEMORY);
    state->segments = grown;
    state->segment_capacity = capacity;
  }
  state->segments[state->segment_count].number = info->unread_marker - JPEG_APP0;
  state->segments[state->segment_count].bytes = source->next_input_byte + 2;
  state->segments[state->segment_count].count = length - 2;
  state->segment_count += 1;
  source->next_input_byte += length;
  source->bytes_in_buffer -= length;
  return TRUE;
}

static inline void cjpeg_close(cjpeg_reader *reader) {
  // Allocates nothing and raises no error, so it needs no jump target.
  jpeg_destroy_decompress(&reader->state->info);
  free(reader->state->segments);
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
  state->errors.emit_message = cjpeg_on_emit;
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
  jpeg_set_marker_processor(info, JPEG_APP0 + 1, cjpeg_on_segment);
  jpeg_set_marker_processor(info, JPEG_APP0 + 2, cjpeg_on_segment);
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

// For three components of which neither JFIF nor Adobe says what they are: takes them as red, green and blue rather than as
// YCbCr, which libjpeg assumes. Asked for after the header.
static inline void cjpeg_take_as_rgb(cjpeg_reader *reader) {
  struct jpeg_decompress_struct *info = &reader->state->info;
  if (info->num_components != 3 || info->saw_JFIF_marker || info->saw_Adobe_marker) return;
  info->jpeg_color_space = JCS_RGB;
}

// Takes three components whose ids are the letters R, G and B as these colours, whatever JFIF says, as pydicom does. Asked for
// after the header, for a JPEG in another file.
static inline int cjpeg_obey_ids(cjpeg_reader *reader) {
  struct jpeg_decompress_struct *info = &reader->state->info;
  if (info->num_components != 3 || info->saw_Adobe_marker) return 0;
  for (int i = 0; i < 3; i++) {
    int id = info->comp_info[i].component_id;
    if (id != "RGB"[i] && id != "rgb"[i]) return 0;
  }
  info->jpeg_color_space = JCS_RGB;
  return 1;
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
  if (!jpeg_finish_decompress(&reader->state->info)) reader->lacks_end = 1;
  return CJPEG_OK;
}

// The share of the image that may be other than what was stored, from 0 to 1. Where the data were misread, all that
// follows up to the next restart marker may be wrong; in a file without such markers nobody knows where it began.
static inline double cjpeg_misread_share(const cjpeg_reader *reader) {
  const struct jpeg_decompress_struct *info = &reader->state->info;
  if (reader->misread_count == 0) return 0;
  if (info->restart_interval == 0) return 1;
  double width = 8.0 * info->max_h_samp_factor, height = 8.0 * info->max_v_samp_factor;
  double units = ((double)reader->width / width + 1) * ((double)reader->height / height + 1);
  double share = (double)reader->misread_count * (double)info->restart_interval / units;
  return share < 1 ? share : 1;
}

// The bytes of the coefficients that libjpeg keeps of the whole image, where the file brings it in several scans; asked
// for after the header.
static inline uint64_t cjpeg_coefficient_bytes(cjpeg_reader *reader) {
  struct jpeg_decompress_struct *info = &reader->state->info;
  if (!jpeg_has_multiple_scans(info)) return 0;
  uint64_t bytes = 0;
  for (int i = 0; i < info->num_components; i++) {
    const jpeg_component_info *component = &info->comp_info[i];
    bytes += (uint64_t)component->width_in_blocks * component->height_in_blocks * sizeof(JBLOCK);
  }
  return bytes;
}

// The number of scans in the file: its markers of their starts, those in thumbnails left out.
static inline uint32_t cjpeg_count_scans(const uint8_t *bytes, size_t count) {
  uint32_t scans = 0;
  size_t at = 2;
  while (at + 1 < count) {
    const uint8_t *found = (const uint8_t *)memchr(bytes + at, 0xFF, count - at - 1);
    if (found == NULL) break;
    uint8_t marker = found[1];
    at = (size_t)(found - bytes) + 1;
    if (marker == 0xFF) continue;
    at += 1;
    // A zero byte stands for a data byte of 255; these markers have no segment.
    if (marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD8)) continue;
    if (marker == 0xD9) break;
    if (marker == 0xDA) scans += 1;
    if (at + 1 >= count) break;
    at += (size_t)bytes[at] << 8 | (size_t)bytes[at + 1];
  }
  return scans;
}

#define CJPEG_TEXT(value) CJPEG_WORDS(value)
#define CJPEG_WORDS(...) #__VA_ARGS__

// The library that this was compiled against, such as `libjpeg-turbo 2.1.5`; it does not tell its version at run time.
static inline const char *cjpeg_version(void) {
#ifdef LIBJPEG_TURBO_VERSION
  return "libjpeg-turbo " CJPEG_TEXT(LIBJPEG_TURBO_VERSION);
#else
  return "libjpeg " CJPEG_TEXT(JPEG_LIB_VERSION);
#endif
}

// The APP1 or APP2 segment with this index, or NULL past the last.
static inline const cjpeg_segment *cjpeg_segment_at(const cjpeg_reader *reader, size_t index) {
  return index < reader->state->segment_count ? &reader->state->segments[index] : NULL;
}
