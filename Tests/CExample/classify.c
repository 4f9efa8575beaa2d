/*
 * An example of DermaFusion in C: classifies one image and says where the network looked.
 *
 *   cc classify.c $(pkg-config --cflags --libs dermafusion) -o classify
 *   ./classify MODEL IMAGE [AGE] [SEX] [SITE]
 */
#include <dermafusion.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const dermafusion_error *error) {
  fprintf(stderr, "error %d: %s\n%s\n", (int)error->code, error->message, error->remedy);
  return 1;
}

/* The bytes of a file; NULL where it cannot be read. */
static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  size_t capacity = 1 << 16;
  unsigned char *bytes = malloc(capacity);
  *size = 0;
  while (bytes != NULL) {
    *size += fread(bytes + *size, 1, capacity - *size, file);
    if (*size < capacity) break;
    capacity *= 2;
    unsigned char *larger = realloc(bytes, capacity);
    if (larger == NULL) free(bytes);
    bytes = larger;
  }
  fclose(file);
  return bytes;
}

static int show(dermafusion_classifier classifier, dermafusion_result result) {
  dermafusion_error error;
  dermafusion_view view = {.size = sizeof view};
  if (dermafusion_result_view(result, &view, &error) != DERMAFUSION_OK) return fail(&error);
  puts(view.json);
  for (uint32_t i = 0; i < view.class_count; i++) {
    printf("%s %.9g %.9g\n", dermafusion_class_id(classifier, i), view.probabilities[i], view.logits[i]);
  }
  for (uint32_t i = 0; i < view.map_count; i++) {
    dermafusion_map map = {.size = sizeof map};
    if (dermafusion_result_map(result, i, &map, &error) != DERMAFUSION_OK) return fail(&error);
    double sum = 0;
    for (size_t place = 0; place < (size_t)map.side * map.side; place++) sum += map.values[place];
    printf(
        "map of %s: status %d, %ux%u, mean %.6f\n", dermafusion_class_id(classifier, (uint32_t)map.class_index),
        (int)map.status, map.side, map.side, sum / map.side / map.side);
  }
  printf("%s\n%s\n", view.summary, view.disclaimer);
  return 0;
}

int main(int argument_count, char **arguments) {
  if (argument_count < 3) {
    fprintf(stderr, "usage: classify MODEL IMAGE [AGE] [SEX] [SITE]\n");
    return 64;
  }
  if (dermafusion_abi_version() != DERMAFUSION_ABI_VERSION) {
    fprintf(stderr, "the library has another interface than the header\n");
    return 1;
  }
  size_t size = 0;
  unsigned char *bytes = read_file(arguments[2], &size);
  if (bytes == NULL) {
    perror(arguments[2]);
    return 1;
  }
  dermafusion_error error;
  dermafusion_classifier classifier;
  if (dermafusion_open(arguments[1], 0, &classifier, &error) != DERMAFUSION_OK) {
    free(bytes);
    return fail(&error);
  }
  dermafusion_request request;
  dermafusion_request_init(&request);
  request.name = arguments[2];
  if (argument_count > 3) request.age = strtod(arguments[3], NULL);
  if (argument_count > 4) request.sex = arguments[4];
  if (argument_count > 5) request.site = arguments[5];
  dermafusion_result result;
  int status = dermafusion_explain_bytes(classifier, bytes, size, &request, &result, &error) == DERMAFUSION_OK
                   ? show(classifier, result)
                   : fail(&error);
  dermafusion_result_close(result, NULL);
  dermafusion_classifier_close(classifier, NULL);
  free(bytes);
  return status;
}
