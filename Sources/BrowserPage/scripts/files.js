/**
 * The files that a person chooses, drops or pastes, before any of them is opened.
 */

/** @param {File} file */
export function isTable(file) {
  return file.type === 'text/csv' || /\.(csv|tsv)$/i.test(file.name);
}

/**
 * True if a file only lies beside photographs: texts, hidden files, and what systems and discs keep in folders. The command line
 * passes over them too.
 * @param {File} file
 */
function liesBeside(file) {
  return /^(text\/|application\/(json|xml)$)/.test(file.type)
    || /^(\..*|thumbs\.db|desktop\.ini|dicomdir|.*\.(txt|json|jsonl|md|xml|html?))$/i.test(file.name);
}

/**
 * Photographs and tables among files. What lies beside them in a folder is left out, unless nothing else was chosen: then it is
 * opened, and the person is told why it cannot be.
 * @param {File[]} files
 * @returns {{photographs: File[], tables: File[]}}
 */
export function sorted(files) {
  const tables = files.filter(isTable);
  const others = files.filter((file) => !isTable(file));
  const photographs = others.filter((file) => !liesBeside(file));
  return { tables, photographs: photographs.length + tables.length === 0 ? others : photographs };
}
