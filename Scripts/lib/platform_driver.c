// platform_driver CONFIG WEIGHTS OPERATIONS RESULTS: runs the portable core on a machine that has files, for
// Scripts/checks/platforms. Both files are frames of little-endian 32-bit numbers and bytes:
// an operation: kind (0 preprocess, 1 classify, 2 explain), width, height, bytes of the request, bytes of the result beside
//   its text; the request; the pixels [height, width, 4];
// a result: status, bytes of the text, bytes of the result, microseconds; the text; the result.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int32_t dermafusion_page_load(const void *configuration, int32_t count, const void *weights, int32_t weights_count);
int32_t dermafusion_page_classify(int32_t, const void *, int32_t, int32_t, const void *, int32_t);
int32_t dermafusion_page_explain(int32_t, const void *, int32_t, int32_t, const void *, int32_t);
const void *dermafusion_page_preprocess(int32_t, const void *, int32_t, int32_t, const void *, int32_t);
const unsigned char *dermafusion_page_text(void);
int32_t dermafusion_page_text_count(void);

static void fail(const char *what, const char *name) {
  fprintf(stderr, "error: platform_driver: %s %s\n", what, name);
  exit(1);
}

static unsigned char *contents(const char *path, size_t *count) {
  FILE *file = fopen(path, "rb");
  if (!file) fail("cannot open", path);
  fseek(file, 0, SEEK_END);
  *count = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*count + 1);
  if (!bytes || fread(bytes, 1, *count, file) != *count) fail("cannot read", path);
  fclose(file);
  return bytes;
}

static double microseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

int main(int count, char **words) {
  if (count != 5) fail("takes four paths, not as", words[0]);
  size_t configuration_count, weights_count;
  unsigned char *configuration = contents(words[1], &configuration_count);
  unsigned char *weights = contents(words[2], &weights_count);
  int32_t model = dermafusion_page_load(configuration, (int32_t)configuration_count, weights, (int32_t)weights_count);
  if (!model) {
    fwrite(dermafusion_page_text(), 1, (size_t)dermafusion_page_text_count(), stderr);
    fail("cannot load", words[1]);
  }
  free(configuration);
  free(weights);
  FILE *operations = fopen(words[3], "rb"), *results = fopen(words[4], "wb");
  if (!operations || !results) fail("cannot open", words[3]);
  uint32_t head[5];
  while (fread(head, sizeof head, 1, operations) == 1) {
    size_t pixel_bytes = (size_t)head[1] * head[2] * 4;
    unsigned char *request = malloc(head[3] + 1), *pixels = malloc(pixel_bytes + 1);
    if (!request || !pixels || fread(request, 1, head[3], operations) != head[3] ||
        fread(pixels, 1, pixel_bytes, operations) != pixel_bytes)
      fail("cannot read", words[3]);
    int32_t width = (int32_t)head[1], height = (int32_t)head[2], length = (int32_t)head[3];
    const void *data = NULL;
    int32_t status;
    double start = microseconds();
    switch (head[0]) {
      case 0:
        data = dermafusion_page_preprocess(model, pixels, width, height, request, length);
        status = data != NULL;
        break;
      case 1: status = dermafusion_page_classify(model, pixels, width, height, request, length); break;
      default: status = dermafusion_page_explain(model, pixels, width, height, request, length); break;
    }
    uint32_t frame[4] = {(uint32_t)status, (uint32_t)dermafusion_page_text_count(), data ? head[4] : 0,
                         (uint32_t)(microseconds() - start)};
    fwrite(frame, sizeof frame, 1, results);
    fwrite(dermafusion_page_text(), 1, frame[1], results);
    if (data) fwrite(data, 1, frame[2], results);
    free(request);
    free(pixels);
  }
  if (fclose(results)) fail("cannot write", words[4]);
  return 0;
}
