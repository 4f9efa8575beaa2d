/*
 * DermaFusion from C: classifies dermoscopy images and explains the result by activation maps.
 *
 * DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been approved by the FDA or
 * any regulatory authority. Results should NOT be used for self-diagnosis. Always consult a qualified dermatologist
 * for skin concerns.
 *
 * Show this disclaimer wherever you show a result; every result contains it.
 *
 *   dermafusion_classifier classifier;
 *   dermafusion_error error;
 *   if (dermafusion_open("Weights", 0, &classifier, &error) != DERMAFUSION_OK) fail(error.message);
 *   dermafusion_request request;
 *   dermafusion_request_init(&request);
 *   request.age = 55;
 *   dermafusion_result result;
 *   if (dermafusion_classify_bytes(classifier, bytes, size, &request, &result, &error) == DERMAFUSION_OK) {
 *     dermafusion_view view = {.size = sizeof view};
 *     dermafusion_result_view(result, &view, &error);
 *     puts(view.json);
 *     dermafusion_result_close(result, NULL);
 *   }
 *   dermafusion_classifier_close(classifier, NULL);
 *
 * Conventions
 * - Every function may be called from any thread at any time. Many threads may use one classifier at once.
 * - A function returns DERMAFUSION_OK or the code of an error. Where it fails it sets an output handle to 0 (a view or a map it leaves alone) and, unless `error`
 *   is NULL, fills `*error`.
 * - Handles are numbers that are never used twice in a process. A handle that was closed, is of another kind or was never
 *   given out is DERMAFUSION_INVALID_HANDLE. 0 is no handle.
 * - Strings are UTF-8 and end with a zero byte, after at most 65,536 bytes. Bytes handed in are copied or read before the
 *   call returns; at most 512 MB of an image, 64 MB of a table and of its request, 4 MB of a config.json and 1.5 GB of weights.
 * - The structs that carry `size` may grow at their end. The library reads and writes no more than `size` bytes.
 * - A process that forks after its first call: the child calls nothing of this library, whose locks and threads are the
 *   parent's. Start other processes before the first call, or by exec.
 */
#ifndef DERMAFUSION_H
#define DERMAFUSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interface that this header describes. It changes when a program that was compiled with an older header would break. */
#define DERMAFUSION_ABI_VERSION 1

/* What a function returns. Later versions may have more codes. */
typedef int32_t dermafusion_status;
enum {
  DERMAFUSION_OK = 0,
  /* The model's folder or one of its files is not there or cannot be read. */
  DERMAFUSION_MODEL_NOT_FOUND = 1,
  /* A file of the model breaks a rule. */
  DERMAFUSION_INVALID_MODEL = 2,
  /* An image is in no known format, damaged, too small or too large. */
  DERMAFUSION_INVALID_IMAGE = 3,
  /* The age is outside 0...130 years, the sex or the site is not an accepted name, or a table of patients breaks a rule. */
  DERMAFUSION_INVALID_METADATA = 4,
  /* The network's outputs, or an activation map, are not all finite. */
  DERMAFUSION_NON_FINITE_OUTPUT = 5,
  /* The model has no such layer to explain. */
  DERMAFUSION_UNKNOWN_LAYER = 6,
  /* The model has no such class. */
  DERMAFUSION_UNKNOWN_CLASS = 7,
  /* Activation maps are of one network, and this is an ensemble. */
  DERMAFUSION_ENSEMBLE_NOT_EXPLAINED = 8,
  /* An argument breaks a rule of this header: NULL, a wrong `size`, a number out of range. */
  DERMAFUSION_INVALID_ARGUMENT = 9,
  /* The handle is closed, of another kind, or was never given out. */
  DERMAFUSION_INVALID_HANDLE = 10,
  /* Another error of the library; the message says which. */
  DERMAFUSION_FAILED = 11
};

/* What went wrong. Texts that are too long are cut between characters; all end with a zero byte. */
typedef struct dermafusion_error {
  dermafusion_status code;
  /* One line that names the file, the value and the rule. */
  char message[1024];
  /* What to do about it, one sentence. */
  char remedy[512];
} dermafusion_error;

/* A model that is ready to classify. */
typedef uint64_t dermafusion_classifier;
/* What a classifier made of one image, or says of itself. */
typedef uint64_t dermafusion_result;

/* The order of a pixel's bytes, one byte for each channel. The fourth byte of a pixel is not looked at. */
enum { DERMAFUSION_RGB = 0, DERMAFUSION_RGBA = 1, DERMAFUSION_BGRA = 2 };

/* What is known of the patient, and what is wanted. dermafusion_request_init sets everything to "not known, not wanted". */
typedef struct dermafusion_request {
  /* Set by dermafusion_request_init, for the members up to map_layer. */
  uint32_t size;
  /* 0: look at the image as it is. 1: average the eight symmetries of the square (eight times the work). */
  uint32_t symmetries;
  /* 1: compute on the calling thread alone, where the caller keeps all processors busy with images. 0: share the work of
     one image among the classifier's threads. Results do not depend on it. */
  uint32_t calling_thread_only;
  /* The frame to look at of a DICOM file of several, from 1. 0: the file has one; one of several is an error that says how
     many there are. */
  uint32_t frame;
  /* In years, 0...130; NaN: not known. */
  double age;
  /* "male", "female" or "unknown", or a word for it as in tables; NULL: not known. */
  const char *sex;
  /* One of the fifteen sites ("lower extremity"), or a word for one as in tables; NULL: not known. */
  const char *site;
  /* What the JSON calls the image; NULL: "". */
  const char *name;
  /* For maps. The class to explain, an id of the model; "all": each class; NULL: the one with the greatest probability. */
  const char *map_class;
  /* For maps. "gradcam", "hirescam", "gradcam++", "layercam" or "eigencam"; NULL: "gradcam". */
  const char *map_method;
  /* For maps. A layer that dermafusion_describe lists; NULL: the last. */
  const char *map_layer;
  /* Of the sentences and of the picture: "en", "de" or "fr"; NULL: that of dermafusion_set_language. It is read only where
     `size` is set to sizeof(dermafusion_request), because dermafusion_request_init knows nothing of the caller's header. */
  const char *language;
} dermafusion_request;

enum { DERMAFUSION_RISK_NONE = -1, DERMAFUSION_RISK_LOW = 0, DERMAFUSION_RISK_MODERATE = 1, DERMAFUSION_RISK_HIGH = 2 };

/* A result. Pointers are valid until the result is closed. */
typedef struct dermafusion_view {
  /* sizeof(dermafusion_view), set by the caller. */
  uint32_t size;
  /* Classes of the model; 0 in what dermafusion_describe gives. */
  uint32_t class_count;
  /* Softmax at the model's temperature, [class_count], 0...1, in the order of dermafusion_class_id. Of a model whose classes may
     be right together (`multiLabel` in the JSON) a sigmoid of each logit, which do not add up to 1. Where the model abstains
     they mean little. */
  const float *probabilities;
  /* The network's outputs, [class_count]. */
  const float *logits;
  /* The likeliest class by its index; -1 where the model abstains. */
  int32_t prediction;
  /* The class that raised the risk to moderate or high, if it is not the prediction; show it beside the prediction.
     Otherwise -1. */
  int32_t concern;
  /* DERMAFUSION_RISK_...; none where the model abstains or does not say which classes are malignant. */
  int32_t risk;
  /* 1 where the model abstains: it suggests no class and no risk. */
  uint32_t abstains;
  /* 1 where no class stands out. */
  uint32_t is_confidence_low;
  /* Activation maps, for dermafusion_result_map. */
  uint32_t map_count;
  /* The line of `dermafusion classify --format json` without its line feed, of json_size bytes and a zero byte. Its `urgent`
     says whether an urgent consultation is advised. */
  const char *json;
  uint64_t json_size;
  /* The result in words, and the disclaimer that belongs to it: in another language than English first its translation, then
     the English wording. Show both. */
  const char *summary;
  const char *disclaimer;
  /* The means of the network's last feature map, [feature_count], as `dermafusion embed` writes them: not scaled, and not
     changed by age, sex or site. An ensemble has none: NULL and 0. Programs that set `size` by an older header do not get
     them. */
  const float *features;
  uint64_t feature_count;
} dermafusion_view;

enum {
  DERMAFUSION_MAP_OK = 0,
  /* Nothing in the map is above 0: no place supports the class. The values are 0. */
  DERMAFUSION_MAP_ALL_NEGATIVE = 1,
  /* Every place has the same value. The values are 0. */
  DERMAFUSION_MAP_FLAT = 2
};

/* An activation map. Pointers are valid until the result is closed. */
typedef struct dermafusion_map {
  /* sizeof(dermafusion_map), set by the caller. */
  uint32_t size;
  /* The class by its index. */
  int32_t class_index;
  /* DERMAFUSION_MAP_... */
  int32_t status;
  /* Rows and columns of `values`: the network's input size. */
  uint32_t side;
  /* [side, side], 0...1, row 0 at the top, over the centre square of the image: what supports the class. The map's cells
     are stretched over the square, as the Python package grad-cam has them. */
  const float *values;
  /* The map before its negative part is cut off: [signed_height, signed_width], any finite values. */
  const float *signed_values;
  uint32_t signed_height;
  uint32_t signed_width;
  /* As `values`, but each cell at the centre of its receptive field, as pictures draw it: for the shipped model up to 15
     pixels further down and right. Programs that set `size` by an older header do not get it. */
  const float *placed_values;
} dermafusion_map;

/* The DERMAFUSION_ABI_VERSION that the library was built with. A program compares it with its header's. */
uint32_t dermafusion_abi_version(void);

/* The library's version, "MAJOR.MINOR.PATCH". The text lives as long as the library. */
const char *dermafusion_version(void);

/* Loads a model's or an ensemble's folder and prepares it, which takes a moment.
   thread_count: threads that share the work of one image, 1...1024; 0: as many as the process may use. */
dermafusion_status dermafusion_open(
    const char *folder, int32_t thread_count, dermafusion_classifier *classifier, dermafusion_error *error);

/* The same of the bytes of `config.json` and `model.safetensors`. */
dermafusion_status dermafusion_open_memory(
    const void *configuration, size_t configuration_size, const void *weights, size_t weights_size,
    int32_t thread_count, dermafusion_classifier *classifier, dermafusion_error *error);

/* Frees a classifier. Calls under way on other threads end as usual. 0 is left alone. */
dermafusion_status dermafusion_classifier_close(dermafusion_classifier classifier, dermafusion_error *error);

/* Sets the language of the results that the classifier gives from then on: "en", "de" or "fr". Another one is
   DERMAFUSION_INVALID_ARGUMENT and changes nothing. In another language than English, the JSON has `language` and
   `disclaimerTranslation`; its `disclaimer` stays English. Errors of an image, its patient and the model are in the language
   too; all others are English. */
dermafusion_status dermafusion_set_language(
    dermafusion_classifier classifier, const char *language, dermafusion_error *error);

/* Sets the language in which classifiers begin that this process opens from then on, and that of the errors of opening them:
   "en", as it is at first, "de" or "fr". Another one is DERMAFUSION_INVALID_ARGUMENT and changes nothing. */
dermafusion_status dermafusion_set_default_language(const char *language, dermafusion_error *error);

/* The id of a class ("mel") by its index from 0; NULL beyond the last class and for what is no classifier. The text is
   valid until the classifier is closed. */
const char *dermafusion_class_id(dermafusion_classifier classifier, uint32_t index);

/* What a program can know of a model before it classifies, as the JSON of a result without scores: version, model,
   architecture, precision, temperature, inputSize, classes, metadataUsed, sexes, sites, pickerSites (those that a person
   picks from), methods, layers, languages, formats (that can be read), endings (of their files' names), threads, instructionSet,
   disclaimer. */
dermafusion_status dermafusion_describe(
    dermafusion_classifier classifier, dermafusion_result *result, dermafusion_error *error);

/* Reads a table of patients, as `dermafusion classify --metadata` does: CSV of at most 64 MB, as HAM10000, the ISIC archive,
   `dermafusion classify` and spreadsheets write it.
   request: the JSON object {"name": what messages call the table, "images": [the paths of all images]}; "" is an image without
   a name. Relative paths begin in the current folder. Which row is an image's depends on the other images, so ask for all at
   once; a table without a row of any of them is an error. With "joinPatient": true, rows without an image fill what the rows of
   the same patient_id or record_id lack. With "language": "de" or "fr", errors and notes are in that language.
   The result's view has the answer as its `json`, and no classes: {"images": for each image {"age", "sex", "site"} for a
   request, {"error"} where its row cannot be understood or told, or null without a row; "missing": of age, sex and site, those
   without a column; "unused": the columns that are not read; "notes": sentences for a person}. */
dermafusion_status dermafusion_read_table(
    const void *table, size_t size, const char *request, dermafusion_result *result, dermafusion_error *error);

/* The name by which tables know the image of a path, `image_id` in what `dermafusion classify` writes: the file's name without
   the ending of an image. The result's view has it as its `json`, a JSON string, and no classes. */
dermafusion_status dermafusion_image_id(const char *path, dermafusion_result *result, dermafusion_error *error);

/* The images in a folder and those below it, as `dermafusion classify FOLDER` finds them: by their endings, and by the first bytes
   of files with another ending or none. Hidden files are passed over.
   The result's view has the answer as its `json`, and no classes: {"images": their paths in order, "notes": sentences on what
   cannot be looked at or is left out}. A folder without an image is an error. */
dermafusion_status dermafusion_list_images(const char *folder, dermafusion_result *result, dermafusion_error *error);

/* Sets a request to "nothing known, nothing special". */
void dermafusion_request_init(dermafusion_request *request);

/* Classifies a file's bytes: PNG, JPEG, PNM, BMP, DICOM, and WebP, TIFF, HEIC and AVIF where the system has libwebp, libtiff
   and libheif; at least 32x32 pixels. An EXIF orientation is applied. These libraries run in the calling process: a file that
   crashes them ends it. The program `dermafusion` runs them in a process of their own.
   request: NULL: nothing known, nothing special. */
dermafusion_status dermafusion_classify_bytes(
    dermafusion_classifier classifier, const void *bytes, size_t size, const dermafusion_request *request,
    dermafusion_result *result, dermafusion_error *error);

/* The same of an open file, which is read from where it stands to its end and left open. A file whose first bytes no image
   has is not read further; more than 512 MB are refused. */
dermafusion_status dermafusion_classify_file(
    dermafusion_classifier classifier, int32_t descriptor, const dermafusion_request *request,
    dermafusion_result *result, dermafusion_error *error);

/* Classifies pixels in memory: uint8 [height, width, 3 or 4], rows from the top, bytes_per_row apart, at least the bytes of
   one row; layout: DERMAFUSION_RGB, _RGBA or _BGRA. `pixels` points at (height - 1) * bytes_per_row bytes and one row. */
dermafusion_status dermafusion_classify_pixels(
    dermafusion_classifier classifier, const uint8_t *pixels, size_t width, size_t height, size_t bytes_per_row,
    int32_t layout, const dermafusion_request *request, dermafusion_result *result, dermafusion_error *error);

/* Classifies and makes the activation maps that the request asks for. Symmetries are refused. */
dermafusion_status dermafusion_explain_bytes(
    dermafusion_classifier classifier, const void *bytes, size_t size, const dermafusion_request *request,
    dermafusion_result *result, dermafusion_error *error);
dermafusion_status dermafusion_explain_file(
    dermafusion_classifier classifier, int32_t descriptor, const dermafusion_request *request,
    dermafusion_result *result, dermafusion_error *error);
dermafusion_status dermafusion_explain_pixels(
    dermafusion_classifier classifier, const uint8_t *pixels, size_t width, size_t height, size_t bytes_per_row,
    int32_t layout, const dermafusion_request *request, dermafusion_result *result, dermafusion_error *error);

/* Shows a result. The caller sets view->size. */
dermafusion_status dermafusion_result_view(
    dermafusion_result result, dermafusion_view *view, dermafusion_error *error);

/* Shows the map at a place from 0. The caller sets map->size. */
dermafusion_status dermafusion_result_map(
    dermafusion_result result, uint32_t index, dermafusion_map *map, dermafusion_error *error);

/* Draws the maps of an explanation over the photograph, with their caption, as `dermafusion gradcam` does: a PNG file of
   *size bytes, valid until the result is closed. */
dermafusion_status dermafusion_result_picture(
    dermafusion_result result, const uint8_t **bytes, uint64_t *size, dermafusion_error *error);

/* Frees a result and all that points into it. 0 is left alone. */
dermafusion_status dermafusion_result_close(dermafusion_result result, dermafusion_error *error);

#ifdef __cplusplus
}
#endif

#endif
