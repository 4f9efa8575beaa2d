/**
 * What a record of the history must hold to be shown. Records come from this page, from older ones and from files.
 * @param {any} record
 * @returns {string} the rule that it breaks; empty where it breaks none
 */
export function flaw(record) {
  if (typeof record !== 'object' || record === null) return 'record';
  if (typeof record.id !== 'string' || !/^[0-9a-f]{32}$/.test(record.id)) return 'id';
  if (Number.isNaN(Date.parse(record.created))) return 'created';
  for (const key of ['name', 'lesion', 'note']) if (typeof record[key] !== 'string') return key;
  if (!Array.isArray(record.classes) || record.classes.length < 2) return 'classes';
  const { result } = record;
  if (typeof result !== 'object' || result === null || typeof result.summary !== 'string') return 'result';
  for (const each of record.classes) {
    const probability = result.probabilities?.[each?.class];
    if (typeof each.name !== 'string' || !Number.isFinite(probability) || probability < 0 || probability > 1) return 'probabilities';
  }
  if (!['low', 'moderate', 'high', null].includes(result.risk)) return 'risk';
  if (result.prediction !== null && !(result.prediction?.class in result.probabilities)) return 'prediction';
  for (const key of ['warnings', 'abstainReasons']) if (!Array.isArray(result[key])) return key;
  if (typeof result.metadata !== 'object' || !Array.isArray(result.metadata?.missing)) return 'metadata';
  if (typeof result.model?.sha256 !== 'string' || typeof result.disclaimer !== 'string') return 'model';
  if (!Number.isFinite(record.square?.side)) return 'square';
  if (!(record.thumbnail instanceof Blob)) return 'thumbnail';
  return '';
}

/**
 * A broken record's name, as far as it has one.
 * @param {any} record
 * @param {unknown} key
 */
export function nameOfBroken(record, key) {
  const parts = [record?.name, record?.created].filter((part) => typeof part === 'string' && part !== '');
  return parts.length > 0 ? parts.join(', ') : String(key);
}
