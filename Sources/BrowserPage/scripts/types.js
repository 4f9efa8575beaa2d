/**
 * What the modules hand to one another. Types only.
 *
 * @typedef {{left: number, top: number, side: number}} Square in pixels of the upright photograph
 *
 * @typedef {object} Metadata
 * @property {number | null} age in years, 0...130
 * @property {string} sex one of the model's sexes
 * @property {string} site one of the model's fifteen names
 *
 * @typedef {Record<string, string>} Worded a sentence of the engine in each language
 * @typedef {{error: {code: string, message: string, messages: Worded}}} Refused
 * @typedef {{images: (Metadata | Refused | null)[], missing: string[], notes: Worded[]}} PatientTable a table as the engine read it: a row
 *   for each photograph, in the order of the request, or null; `missing`: of age, sex and site, those that have no column
 *
 * @typedef {object} Source a photograph's file
 * @property {string} key what it is known by to the worker
 * @property {Blob} blob
 * @property {{width: number, height: number}} [size]
 * @property {Awaited<ReturnType<typeof import('./engine/decode.js').read>>} [read] what the page has read of it for the worker
 *
 * @typedef {object} Job
 * @property {Source} source
 * @property {string} name the image's, as the result states it
 * @property {Square} [square] the centre square where it is missing
 * @property {Metadata} metadata
 *
 * @typedef {Job & {class: string, method: string, layer?: string, trust?: boolean, placement?: string}} MapJob
 *
 * @typedef {object} MapFacts
 * @property {string} class
 * @property {string} method
 * @property {string} layer
 * @property {'ok' | 'all_negative' | 'flat'} status
 * @property {number} width of the map's values
 * @property {number} height
 * @property {Trust} [trust]
 *
 * @typedef {object} Trust what the checks of a map found; see MapTrust
 * @property {boolean} passes
 * @property {number} deletionAUC
 * @property {number} randomDeletionAUC
 * @property {number} insertionAUC
 * @property {number} randomInsertionAUC
 * @property {number | null} shuffledHeadCorrelation
 *
 * @typedef {object} Description
 * @property {string} version the engine's
 * @property {{name: string, version: string, sha256: string}} model
 * @property {number} inputSize
 * @property {{class: string, name: string, malignancy?: string | null}[]} classes
 * @property {boolean} metadataUsed
 * @property {number} [temperature]
 * @property {string[]} sites all that a result may have
 * @property {string[]} pickerSites those that a person picks from, from head to foot
 * @property {string[]} sexes
 * @property {string[]} methods
 * @property {string[]} layers
 * @property {string[]} imageEndings of the names of image files, with a dot and in lower case
 * @property {string} disclaimer
 *
 * @typedef {object} Result the JSON of `classify`, schema version 2
 * @property {number} schemaVersion
 * @property {string} image
 * @property {string | null} imageSHA256
 * @property {{name: string, version: string, sha256: string}} model
 * @property {{class: string, name: string, probability: number} | null} prediction
 * @property {Record<string, number>} probabilities
 * @property {boolean} [multiLabel] whether several classes may be right at once; absent unless they may
 * @property {Record<string, number>} logits
 * @property {'low' | 'moderate' | 'high' | null} risk
 * @property {string | null} [concern] the class that raised the risk, if it is not the likeliest; records of older versions lack it
 * @property {boolean} [urgent] whether an urgent consultation is advised; records of older versions lack it
 * @property {'normal' | 'low'} confidence
 * @property {{age: number | null, sex: string, site: string, missing: string[]}} metadata
 * @property {string[]} warnings
 * @property {Record<string, string>} [warningDetails] what some of the warnings say of this image
 * @property {boolean} abstain
 * @property {string[]} abstainReasons
 * @property {string[] | null} conformalSet
 * @property {number | null} conformalCoverage
 * @property {Record<string, Record<string, number>>} [metadataShares] where something is known of the patient
 * @property {string} [instructionSet] records of older versions lack it
 * @property {string} [precision] records of older versions lack it
 * @property {string} summary in English
 * @property {Worded} [summaries]
 * @property {string} disclaimer
 *
 * @typedef {object} Scan a photograph with its result, as the page and the history hold it
 * @property {string} id
 * @property {string} created ISO 8601
 * @property {string} name the file's
 * @property {Result} result
 * @property {{class: string, name: string, malignancy?: string | null}[]} classes the model's, in its order
 * @property {Square & {width: number, height: number, moved: boolean}} square
 * @property {boolean} reduced
 * @property {string} lesion a name that the person gave the lesion
 * @property {string} note
 * @property {'whole' | 'square'} [kept] what the history keeps of the photograph: its file, or of a large one the square that the model
 *   saw; older records have neither
 * @property {Record<string, Trust>} [trust] what the checks of a class's map found, by class; a map without an entry was not checked
 * @property {Blob} thumbnail
 *
 * @typedef {object} Row what lists show of a scan
 * @property {string} id
 * @property {string} created
 * @property {string} name
 * @property {string} lesion
 * @property {string} note
 * @property {string} site
 * @property {boolean} abstain
 * @property {Result['risk']} risk
 * @property {Result['prediction']} prediction
 * @property {Result['prediction']} concern
 * @property {''} flaw
 *
 * @typedef {{id: string, name: string, flaw: string}} BrokenRow a record that breaks a rule
 */
export {};
