/** Of these words the one that was probably meant: half of its letters may be wrong. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({
      candidate,
      changes: distance(plain(word), plain(candidate)),
    }))
    .filter(({ candidate, changes }) => changes <= candidate.length / 2)
    .sort((one, other) => one.changes - other.changes)
  return best?.candidate
}

/** `--data-dir`, `data_dir` and `DATA_DIR` are the same word. */
function plain(word: string): string {
  return word.replaceAll('-', '_').toLowerCase()
}

/** How many letters must be put in, taken out or changed to get from one word to another (Levenshtein). */
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

/** `, did you mean "check"?`, or nothing when no known word is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = nearest(word, known)
  return meant === undefined ? '' : `, did you mean ${JSON.stringify(meant)}?`
}
