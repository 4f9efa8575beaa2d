// The writing half of this module: JPEG files for pictures that are only looked at.
#pragma once
#include "shim.h"

typedef struct {
  struct jpeg_compress_struct info;
  struct jpeg_error_mgr errors;
  char *message;
  jmp_buf jump;
} cjpeg_writer;

static inline void cjpeg_on_write_error(j_common_ptr info) {
  cjpeg_writer *writer = (cjpeg_writer *)info->client_data;
  info->err->format_message(info, writer->message);
  longjmp(writer->jump, info->err->msg_code == JERR_OUT_OF_MEMORY ? CJPEG_OUT_OF_MEMORY : CJPEG_UNSUPPORTED);
}

// Encodes rows of RGB, of which every pixel keeps its colour. `*bytes` is the caller's to free, whatever is returned. A
// failure leaves libjpeg's reason in `message`.
static inline cjpeg_status cjpeg_encode(
    const uint8_t *pixels, uint32_t width, uint32_t height, int quality, uint8_t **bytes, unsigned long *count,
    char message[JMSG_LENGTH_MAX]) {
  *bytes = NULL;
  *count = 0;
  message[0] = 0;
  cjpeg_writer *writer = (cjpeg_writer *)calloc(1, sizeof(cjpeg_writer));
  if (writer == NULL) return CJPEG_OUT_OF_MEMORY;
  writer->info.err = jpeg_std_error(&writer->errors);
  writer->errors.error_exit = cjpeg_on_write_error;
  writer->errors.output_message = cjpeg_on_message;
  writer->info.client_data = writer;
  writer->message = message;
  // C lets setjmp stand only in a condition, so what it returns is not kept.
  switch (setjmp(writer->jump)) {
    case 0: break;
    case CJPEG_OUT_OF_MEMORY:
      jpeg_destroy_compress(&writer->info);
      free(writer);
      return CJPEG_OUT_OF_MEMORY;
    default:
      jpeg_destroy_compress(&writer->info);
      free(writer);
      return CJPEG_UNSUPPORTED;
  }
  jpeg_create_compress(&writer->info);
  jpeg_mem_dest(&writer->info, bytes, count);
  writer->info.image_width = width;
  writer->info.image_height = height;
  writer->info.input_components = 3;
  writer->info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&writer->info);
  jpeg_set_quality(&writer->info, quality, TRUE);
  writer->info.comp_info[0].h_samp_factor = 1;
  writer->info.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&writer->info, TRUE);
  while (writer->info.next_scanline < height) {
    JSAMPROW row = (JSAMPROW)(pixels + (size_t)writer->info.next_scanline * width * 3);
    jpeg_write_scanlines(&writer->info, &row, 1);
  }
  jpeg_finish_compress(&writer->info);
  jpeg_destroy_compress(&writer->info);
  free(writer);
  return CJPEG_OK;
}

static inline void cjpeg_free(uint8_t *bytes) { free(bytes); }
