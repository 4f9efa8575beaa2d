// node check_platform.mjs NAME ENGINE ROOT PIXELS STEP: holds a build of the engine against the arrays of Python in
// ROOT/ParityFixtures, with the model in ROOT/Weights. ENGINE is a .wasm, or a command that runs platform_driver.c. PIXELS
// is a folder with the decoded image of each fixture as uint8 [height, width, 3] in a NumPy file. PIXELS.float32.jsonl and
// PIXELS.int8.jsonl hold what the program of this machine answers to these images with the models in ROOT/Weights and in
// ROOT/Weights/int8, in JSON lines. The engine has to write the same numbers, a .wasm those of 8 bits alone. Of the
// predictions, of the maps and of these answers every STEP-th is compared, since an emulated machine takes a minute for
// each. Prints one line for each stage; exit status 1 when one departs.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [name, engine, root, pixelFolder, stepText] = process.argv.slice(2);
const step = Number(stepText);
const PREPROCESS = 0, CLASSIFY = 1, EXPLAIN = 2;
// Of a value, or of a map's largest magnitude.
const tolerance = 1e-4;

const encoder = new TextEncoder();
const [floats, int8] = ["Weights", "Weights/int8"].map((folder) =>
  ["config.json", "model.safetensors"].map((file) => join(root, folder, file)));
const manifest = JSON.parse(readFileSync(join(root, "ParityFixtures/manifest.json"), "utf8"));

/** The pixels of a NumPy file of uint8 [height, width, 3], with a byte after each pixel. */
function pixels(file) {
  const bytes = readFileSync(join(pixelFolder, file.replaceAll("/", "_") + ".npy"));
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const [, height, width] = header.match(/'shape': \((\d+), (\d+), 3\)/).map(Number);
  const rgba = Buffer.alloc(4 * width * height, 255);
  for (let pixel = 0; pixel < width * height; pixel++) {
    bytes.copy(rgba, 4 * pixel, start + 3 * pixel, start + 3 * pixel + 3);
  }
  return { width, height, rgba };
}

/** Runs operations in a WebAssembly module; MODEL are the paths of a model's two files. */
async function runWebAssembly(file, model, operations) {
  const wasi = {
    fd_close: () => 0, fd_seek: () => 0, fd_write: () => 0,
    random_get: (pointer, count) => {
      crypto.getRandomValues(new Uint8Array(module.memory.buffer, pointer, count));
      return 0;
    },
  };
  const { instance } = await WebAssembly.instantiate(readFileSync(file), { wasi_snapshot_preview1: wasi });
  const module = instance.exports;
  module._initialize?.();
  const put = (bytes) => {
    const pointer = module.allocate(bytes.length);
    new Uint8Array(module.memory.buffer, pointer, bytes.length).set(bytes);
    return pointer;
  };
  const text = () =>
    new TextDecoder().decode(new Uint8Array(module.memory.buffer, module.text(), module.textCount()).slice());
  const files = model.map((path) => readFileSync(path));
  const [first, second] = files.map(put);
  const loaded = module.load(first, files[0].length, second, files[1].length);
  if (loaded === 0) throw new Error(text());
  module.free(first);
  module.free(second);
  const calls = [module.preprocess, module.classify, module.explain];
  return operations.map(({ kind, image, request, resultCount }) => {
    const json = encoder.encode(JSON.stringify(request));
    const pointers = [put(image.rgba), put(json)];
    const start = performance.now();
    const status = calls[kind](loaded, pointers[0], image.width, image.height, pointers[1], json.length);
    const milliseconds = performance.now() - start;
    const data = Buffer.from(new Uint8Array(module.memory.buffer, status, status ? resultCount : 0).slice());
    const result = { status, milliseconds, text: text(), data };
    pointers.forEach((pointer) => module.free(pointer));
    return result;
  });
}

/** Runs operations in a program for another machine, all at once. */
function runProgram(command, model, operations) {
  const folder = mkdtempSync(join(tmpdir(), "platform-"));
  try {
    const parts = [];
    for (const { kind, image, request, resultCount } of operations) {
      const json = encoder.encode(JSON.stringify(request));
      const head = Buffer.alloc(20);
      [kind, image.width, image.height, json.length, resultCount].forEach((n, i) => head.writeUInt32LE(n, 4 * i));
      parts.push(head, json, image.rgba);
    }
    const [input, output] = ["operations", "results"].map((file) => join(folder, file));
    writeFileSync(input, Buffer.concat(parts));
    const words = command.split(" ");
    const run = spawnSync(
      words[0],
      [...words.slice(1), ...model, input, output],
      { stdio: ["ignore", "inherit", "inherit"] });
    if (run.status !== 0) throw new Error(`${command}: exit status ${run.status ?? run.signal}`);
    const bytes = readFileSync(output);
    let place = 0;
    return operations.map(() => {
      const [status, textCount, dataCount, microseconds] = [0, 4, 8, 12].map((n) => bytes.readUInt32LE(place + n));
      place += 16;
      const text = bytes.toString("utf8", place, place + textCount);
      const data = bytes.subarray(place + textCount, place + textCount + dataCount);
      place += textCount + dataCount;
      return { status, milliseconds: microseconds / 1000, text, data };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const stages = new Map();
/** Notes the difference of one comparison: exactly 0 is demanded unless a bound is given. */
function compare(stage, what, difference, bound = 0) {
  const row = stages.get(stage) ?? { count: 0, greatest: 0, departure: undefined };
  row.count += 1;
  if (!(difference <= row.greatest)) row.greatest = difference;
  if (!(difference <= bound)) row.departure ??= `${what}: ${difference}`;
  stages.set(stage, row);
}

const images = new Map();
const image = (file) => {
  if (!images.has(file)) images.set(file, pixels(file));
  return images.get(file);
};
const metadata = ({ age, sex, site }) => ({
  age, ...(sex === null ? {} : { sex }), ...(site === null ? {} : { site }),
});
/** Float32 has about so many steps; what is written in JSON as Double is rounded to it. */
const float = Math.fround;

const operations = [];
const checks = [];
function add(operation, check) {
  operations.push({ resultCount: 0, ...operation });
  checks.push(check);
}

for (const fixture of manifest.images) {
  const decoded = image(fixture.file);
  for (const { name: stage, shape, sha256 } of fixture.stages) {
    if (stage === "decoded") continue;
    const resultCount = shape.reduce((a, b) => a * b);
    add({ kind: PREPROCESS, image: decoded, request: { stage }, resultCount }, ({ data, text }) => {
      const found = createHash("sha256").update(data).digest("hex");
      const isEqual = found === sha256 && JSON.stringify(JSON.parse(text).shape) === JSON.stringify(shape);
      compare(stage, fixture.file, isEqual ? 0 : Infinity);
    });
  }
  const { shape, indices, values } = fixture.normalized;
  const resultCount = 4 * shape.reduce((a, b) => a * b);
  add({ kind: PREPROCESS, image: decoded, request: { stage: "normalized" }, resultCount }, ({ data }) => {
    indices.forEach((index, i) => {
      compare("normalized", `${fixture.file} [${index}]`, Math.abs(data.readFloatLE(4 * index) - float(values[i])));
    });
  });
}

const times = [];
const classes = JSON.parse(readFileSync(floats[0])).classes.map((entry) => entry.class ?? entry);
for (let index = 0; index < manifest.predictions.length; index += step) {
  const prediction = manifest.predictions[index];
  const views = prediction.views === undefined || prediction.views === 1 ? "upright" : "symmetries";
  const request = { ...metadata(prediction), views };
  add({ kind: CLASSIFY, image: image(prediction.file), request }, ({ text, milliseconds }) => {
    const { logits } = JSON.parse(text);
    classes.forEach((name, i) =>
      compare("logits", `${prediction.file} ${name}`, Math.abs(logits[name] - prediction.logits[i]), tolerance));
    if (views === "upright") times.push(milliseconds);
  });
}

const wanted = manifest.maps.flatMap((maps) => maps.methods.map((method) => ({ maps, ...method })));
for (let index = 0; index < wanted.length; index += step) {
  const { maps, method, shape, maximumMagnitude, indices, values } = wanted[index];
  const request = {
    ...metadata(maps), classes: [maps.class], layer: maps.layer, method, signedMap: true,
  };
  add({ kind: EXPLAIN, image: image(maps.file), request }, ({ text }) => {
    const [found] = JSON.parse(text).maps;
    const what = `${maps.file} ${method} at ${maps.layer}`;
    compare("maps", what, JSON.stringify(found.mapShape) === JSON.stringify(shape) ? 0 : Infinity);
    indices.forEach((index, i) => {
      const difference = Math.abs(found.signedMap.flat()[index] - values[i]) / (maximumMagnitude || 1);
      compare("maps", `${what} [${index}]`, difference, tolerance);
    });
  });
}

const run = engine.endsWith(".wasm") ? runWebAssembly : runProgram;
async function check(model) {
  const results = await run(engine, model, operations);
  results.forEach((result, i) => {
    if (result.status === 0) throw new Error(`${name}, operation ${i} (${JSON.stringify(operations[i].request)}): ${result.text}`);
    checks[i](result);
  });
  operations.length = checks.length = 0;
}

/** The numbers of a result as they are written. */
const numbers = (json) => ["probabilities", "logits"].map((key) => json.match(`"${key}":\\{[^}]*\\}`)?.[0]).join();

/** Has the engine answer as the program of this machine did. */
function addAnswersOfThisMachine(type, stage) {
  readFileSync(`${pixelFolder}.${type}.jsonl`, "utf8").trim().split("\n").forEach((line, index) => {
    const { image: file, instructionSet } = JSON.parse(line);
    if (index % step !== 0) return;
    if (instructionSet === "baseline") throw new Error("this machine has no AVX2, so its answers in float32 are not those of ARM");
    add({ kind: CLASSIFY, image: image(file), request: {} }, ({ text }) =>
      compare(stage, file, numbers(text) === numbers(line) ? 0 : Infinity));
  });
}
if (!engine.endsWith(".wasm")) addAnswersOfThisMachine("float32", "float bits");
await check(floats);
addAnswersOfThisMachine("int8", "8 bits");
await check(int8);

let departed = false;
for (const [stage, { count, greatest, departure }] of stages) {
  const difference = greatest === 0 ? "0" : greatest.toExponential(1);
  console.log(`${name.padEnd(10)} ${stage.padEnd(12)} ${String(count).padStart(8)} ${difference.padStart(12)}`);
  if (departure !== undefined) {
    departed = true;
    console.error(`error: ${name}, ${stage}: ${departure}`);
  }
}
times.sort((a, b) => a - b);
console.log(`${name.padEnd(10)} one classification ${times[times.length >> 1].toFixed(0)} ms (median of ${times.length})`);
process.exitCode = departed ? 1 : 0;
