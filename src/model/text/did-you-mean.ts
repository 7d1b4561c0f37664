/** Returns the known word that was probably meant, `undefined` when more than half of its letters differ. */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, changes: distance(plain(word), plain(candidate)) }))
    .filter(({ candidate, changes }) => changes <= candidate.length / 2)
    .sort((one, other) => one.changes - other.changes)
  return best?.candidate
}

/** Returns `, did you mean "check"?`, or nothing when no known word is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = closestWord(word, known)
  return meant === undefined ? '' : `, did you mean ${JSON.stringify(meant)}?`
}

/**
 * Returns ` Did you mean --check?` with `before` (such as `--`) before the word, or nothing when no known word is
 * close.
 */
export function didYouMeanSentence(word: string, known: readonly string[], before = ''): string {
  const meant = closestWord(word, known)
  return meant === undefined ? '' : ` Did you mean ${before}${meant}?`
}

/** Normalises a word: `--data-dir`, `data_dir` and `DATA_DIR` are the same. */
function plain(word: string): string {
  return word.replaceAll('-', '_').toLowerCase()
}

/** Returns how many letters must be inserted, removed or changed to get from one word to another (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1]
    for (const [column, other] of Array.from(to).entries()) {
      const change = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(change, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
