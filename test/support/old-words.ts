/** Words that have a plain or standard word with the same meaning, as sources of regular expressions. */
export const oldWords: readonly string[] = [
  'anew',
  'befalls?|befell|befallen',
  'begins? afresh',
  'comes? along',
  'fates?',
  '(?<!in[ -])flights?',
  'furnish(es|ed)?',
  'hand-overs?',
  'house',
  'ladders?',
  'misfortunes?',
  'nobody',
  'rightly',
  'slips?',
  'somebody',
  'surroundings',
  'tally|tallies',
  'thereby',
  'vouched|vouches',
  'what is no',
  'whoever',
  'whom(so)?ever',
  'door(s|way)?',
]

/** Words and turns of phrase that no text for users has, beside {@link oldWords}. */
export const oldPhrases: readonly string[] = [
  'alone',
  'brings? about|brought about|c[oa]mes? about',
  'everybody|anybody',
  'goes on|go on',
  'good once',
  '(?<!there )is no(?! longer)',
  'lets? go',
  'lives? by',
  'mends?|mended',
  'must be told|are told',
  'stands? still',
  'such a one',
  'those there are',
  'under way',
  'upon',
]

/** Short forms such as "don't" and "it's"; a possessive such as "the service's" is none. */
export const contractions =
  /\b(?:\w+n['’]t|\w+['’](?:re|ve|ll|m|d)|(?:it|that|there|what|let|he|she|who|here|where)['’]s)\b/i

/** Returns a pattern that finds any of these words, and any contraction. */
export function anyOf(words: readonly string[]): RegExp {
  return new RegExp(String.raw`(?<![\w-])(?:${words.join('|')})(?!\w)|${contractions.source}`, 'i')
}
