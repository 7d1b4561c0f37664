/** Words that no sentence of the repository uses: each has a plain or standard word that says the same. */
export const unplainWords = [
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
] as const

/** Words and turns of phrase that no text for users has, beside {@link unplainWords}. */
export const unplainForUsers = [
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
] as const

/** Contractions, such as `isn't` and `you're`. */
export const contractions = [
  String.raw`(?:is|are|was|were|do|does|did|has|have|had|ca|wo|could|should|would)n['’]t`,
  String.raw`(?:it|that|there|here|what|who|let)['’]s`,
  String.raw`(?:you|we|they|i)['’](?:re|ll|ve|d|m)`,
] as const

/** Returns a pattern that finds any of these words. */
export function anyOf(words: readonly string[]): RegExp {
  return new RegExp(String.raw`(?<![\w-])(?:${words.join('|')})(?!\w)`, 'i')
}
