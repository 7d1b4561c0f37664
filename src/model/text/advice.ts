/**
 * Returns the known word that was probably meant, `undefined` when none is close: one change is allowed for each three
 * letters.
 */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, changes: distance(plain(word), plain(candidate)) }))
    .filter(({ candidate, changes }) => changes <= mostChanges(candidate))
    .sort((one, other) => one.changes - other.changes)
  return best?.candidate
}

/** A larger part would suggest `guests` for `requests`. */
function mostChanges({ length }: string): number {
  return Math.max(1, Math.floor(length / 3))
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

/**
 * Returns how many letters must be inserted, removed, changed or swapped with their neighbour to get from one word to
 * another (optimal string alignment).
 */
function distance(from: string, to: string): number {
  const [one, other] = [Array.from(from), Array.from(to)]
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (const [index, letter] of one.entries()) {
    const next = [index + 1]
    for (const [column, wanted] of other.entries()) {
      const change = (row[column] ?? 0) + (letter === wanted ? 0 : 1)
      const isSwapped = letter === other[column - 1] && one[index - 1] === wanted
      const swap = isSwapped ? (before[column - 1] ?? 0) + 1 : Infinity
      next.push(Math.min(change, swap, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}

/**
 * Returns what to do about a certificate, from the code of a connection error: `untrusted` where the authority is unknown;
 * `undefined` for errors that do not concern the certificate.
 */
export function trustAdvice(code: string | undefined, untrusted: string): string | undefined {
  if (code === undefined) return undefined
  if (code === 'CERT_HAS_EXPIRED') return 'Its certificate has expired. Renew it.'
  if (code === 'CERT_NOT_YET_VALID')
    return 'Its certificate is not valid yet. Check the clocks of both machines.'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'Its certificate is for another host. Use a host name of the certificate.'
  return /CERT|SIGNATURE|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$/.test(code) ? untrusted : undefined
}
