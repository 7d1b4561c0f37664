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

/** Short forms such as "don't" and "it's"; a possessive such as "the service's" is none. */
export const contractions =
  /\b(?:\w+n['’]t|\w+['’](?:re|ve|ll|m|d)|(?:it|that|there|what|let|he|she|who|here|where)['’]s)\b/i
