// The values that the page's modules hand to one another. Types only, without import everywhere.

/** In pixels of the upright photograph. */
type Square = { left: number, top: number, side: number };
type Size = { width: number, height: number };

interface Metadata {
  /** In years, 0...130. */
  age: number | null;
  /** One of the model's sexes. */
  sex: string;
  /** One of the model's fifteen names. */
  site: string;
}

/** A sentence of the engine in each language. */
type Worded = Record<string, string>;
type Refused = { error: { code: string, message: string, messages: Worded } };

/** A table as the engine read it. */
interface PatientTable {
  /** A row for each photograph, in the order of the request, or null. */
  images: (Metadata | Refused | null)[];
  /** Those of age, sex and site that have no column. */
  missing: string[];
  notes: Worded[];
}

/** A photograph's file. */
interface Source {
  /** Its name for the worker. */
  key: string;
  blob: Blob;
  size?: Size;
  /** The part that the page has read of it for the worker. */
  read?: Awaited<ReturnType<typeof import('./scripts/engine/decode.js').read>>;
}

interface Job {
  source: Source;
  /** The image's name, as the result states it. */
  name: string;
  /** The centre square where it is missing. */
  square?: Square;
  metadata: Metadata;
}

type MapJob = Job & { class: string, method: string, layer?: string, trust?: boolean, placement?: string };

interface MapFacts {
  class: string;
  method: string;
  layer: string;
  status: 'ok' | 'all_negative' | 'flat';
  /** The number of the map's values in a row. */
  width: number;
  height: number;
  trust?: Trust;
}

/** The findings of the checks of a map; see MapTrust. */
interface Trust {
  passes: boolean;
  deletionAUC: number;
  randomDeletionAUC: number;
  insertionAUC: number;
  randomInsertionAUC: number;
  shuffledHeadCorrelation: number | null;
}

type Classes = { class: string, name: string, malignancy?: string | null }[];
type ModelFacts = { name: string, version: string, sha256: string };

interface Description {
  /** The engine's. */
  version: string;
  model: ModelFacts;
  inputSize: number;
  classes: Classes;
  metadataUsed: boolean;
  temperature?: number;
  /** All that a result may have. */
  sites: string[];
  /** Those that a person picks from, from head to foot. */
  pickerSites: string[];
  sexes: string[];
  methods: string[];
  layers: string[];
  /** The endings of the names of image files, with a dot and in lower case. */
  imageEndings: string[];
  disclaimer: string;
}

type Prediction = { class: string, name: string, probability: number };

/** The JSON of `classify`, schema version 2. */
interface Result {
  schemaVersion: number;
  image: string;
  imageSHA256: string | null;
  model: ModelFacts;
  prediction: Prediction | null;
  probabilities: Record<string, number>;
  /** True if several classes may be right at once; otherwise absent. */
  multiLabel?: boolean;
  logits: Record<string, number>;
  risk: 'low' | 'moderate' | 'high' | null;
  /** The class that raised the risk, if it is not the likeliest; records of older versions lack it. */
  concern?: string | null;
  /** True if an urgent consultation is advised; records of older versions lack it. */
  urgent?: boolean;
  confidence: 'normal' | 'low';
  metadata: Metadata & { missing: string[] };
  warnings: string[];
  /** The particulars of some of the warnings. */
  warningDetails?: Record<string, string>;
  abstain: boolean;
  abstainReasons: string[];
  conformalSet: string[] | null;
  conformalCoverage: number | null;
  /** Present if something is known of the patient. */
  metadataShares?: Record<string, Record<string, number>>;
  /** Records of older versions lack it. */
  instructionSet?: string;
  precision?: string;
  /** In English. */
  summary: string;
  summaries?: Worded;
  disclaimer: string;
}

/** The change that would make a camera's frame a better photograph, by its name among the texts, and the network's part of it. */
type FrameJudgement = { advice: string | null, isUnfamiliar: boolean };

/** A photograph with its result, as the page and the history hold it. */
interface Scan {
  id: string;
  /** ISO 8601. */
  created: string;
  /** The file's. */
  name: string;
  result: Result;
  /** The model's, in its order. */
  classes: Classes;
  square: Square & Size & { moved: boolean };
  reduced: boolean;
  /** A name that the person gave the lesion. */
  lesion: string;
  note: string;
  /**
   * The part of the photograph that the history keeps: its file, or of a large one the square that the model saw; older records
   * have neither.
   */
  kept?: 'whole' | 'square';
  /** The findings of the checks of a class's map, by class; a map without an entry was not checked. */
  trust?: Record<string, Trust>;
  thumbnail: Blob;
}

/** The part of a scan that lists show. */
interface Row {
  id: string;
  created: string;
  name: string;
  lesion: string;
  note: string;
  site: string;
  abstain: boolean;
  risk: Result['risk'];
  prediction: Prediction | null;
  concern: Prediction | null;
  flaw: '';
}

/** A record that breaks a rule. */
type BrokenRow = { id: string, name: string, flaw: string };

// The state; scripts/state.js.

interface State {
  /** The place that the address names: `scan`, `history/ID`, ... */
  place: string;
  /** True if the browser's Back does not lead to the place before. */
  replaced: boolean;
  /** A photograph on its way from the file. */
  opening: { name: string } | null;
  /** The reason why the last file could not be opened. */
  problem: Problem | null;
  /** The photograph that is being worked on. */
  work: Work | null;
  /** Several photographs. */
  list: List | null;
  /** The search in the history. */
  looking: Looking;
  /** The number of analyses and lists that were begun. */
  runs: number;
}

type Problem = { name: string, error: unknown };

/** An opened file. */
interface Photograph extends Size {
  file: File;
  source: Source;
  name: string;
  reduced: boolean;
  preview: ImageBitmap;
}

type Step = 'review' | 'details' | 'result';

/** One photograph on its way from the file to the result. */
interface Work {
  photograph: Photograph;
  id: string;
  /** The time when it was classified first; empty before. */
  created: string;
  /** The photograph of the list that it is. */
  item: string | null;
  /** The square and the photograph's size of a scan whose square alone was kept. */
  origin: Scan['square'] | null;
  step: Step;
  /** The facts before the person entered anything. */
  known: Metadata;
  metadata: Metadata;
  /** True if the metadata may be analysed. */
  valid: boolean;
  square: Square;
  moved: boolean;
  /** The person's name for it. */
  lesion: string;
  note: string;
  /** The number of the analysis under way; 0 for none. */
  running: number;
  /** The reason why the last analysis gave nothing. */
  failure: unknown;
  outcome: Outcome | null;
  /** The record as the history has it. */
  stored: Scan | null;
}

/** The engine's answer, and the input that it answers. */
interface Outcome {
  scan: Scan;
  /** The square that the model saw. */
  picture: HTMLCanvasElement;
  maps: MapFacts[] | null;
  milliseconds: { decode: number, engine: number };
  metadata: Metadata;
  square: Square;
  /** The number of its analysis. */
  run: number;
}

/** Several photographs, classified one after the other. */
interface List {
  items: Item[];
  /** The number of the run; 0 where none is under way. */
  running: number;
  order: 'given' | 'risk';
  /** The use that was made of the table of patients. */
  table: { name: string, used: number, columns: boolean, notes: Worded[] } | null;
  /** The reason why a table or a photograph of the list could not be opened. */
  problem: Problem | null;
}

interface Item {
  id: string;
  file: File;
  status: 'waiting' | 'running' | 'done' | 'failed';
  metadata: Metadata;
  /** The last answer; the current one where the status is `done`. */
  scan: Scan | null;
  /** True if the scan lies in the history as it is. */
  saved: boolean;
  error: unknown;
}

interface Looking {
  query: string;
  risk: string;
  site: string;
  order: 'newest' | 'oldest' | 'risk' | 'name';
  grouped: boolean;
  count: number;
  chosen: string[];
}

// The views.

/** A child of an element; `null`, `undefined` and `false` are left out. */
type Child = Node | string | number | null | undefined | false;

/**
 * A view: what it shows, its title, what to let go of when it is left, and what is done when a person comes back to the tab,
 * for another tab may have changed the history: `returned` says whether the view is drawn anew.
 */
type View = { title: string, content: Node, leave?: () => void, returned?: () => Promise<boolean> };

/** A part of the Scan view, and what to let go of when it is left. */
type Part = { content: Node, leave?: () => void };

/** The use that the parts of the history's view may make of it. */
interface HistoryPage {
  /** Reads the history again and shows it. */
  draw(): Promise<void>;
  /** Says something over the list. */
  note(...content: Node[]): void;
  root: HTMLElement;
  thumbnails: ReturnType<typeof import('./scripts/parts/scan-summary.js').thumbnails>;
}

// The facts that the build writes into the page.

interface PageFacts {
  /** SHA-256 of the page's file with 64 zeros in the place of the hash itself. */
  hash: string;
  /** The size of model.safetensors. */
  weightsByteCount: number;
  modelLicence: string;
  /** The licences of the projects whose parts are in the page. */
  notices: string;
  /** Word for word, as the library has it. */
  disclaimer: string;
  /** True if the page lies on a host of its own, with a manifest and a service worker. */
  isSite: boolean;
  /** The statements of the model's folder on its evaluation. */
  figures: Figures | null;
  /** The probabilities at which a result gets other words. */
  limits: number[];
}

interface Figures {
  /** Photographs. */
  n: number;
  lesions: number;
  /** True if the values are the model card's, of calibrations that never saw what they are judged on. */
  crossFitted: boolean;
  overall: Record<string, { value: number, interval: [number, number] | null }>;
  recall: Record<string, { n: number, recall: number, interval: [number, number] | null }>;
}
