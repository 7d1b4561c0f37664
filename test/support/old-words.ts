/** Regex sources of words with a plain or standard word that says the same. */
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

/** Contractions such as `isn't`, `it's` and `we'll`; a possessive such as `the guest's` is none. */
export const contractions =
  /\b(?:\w+n['’]t|(?:it|that|there|here|what|who|he|she|let|how|where)['’]s|\w+['’](?:re|ve|ll|d|m))\b/i
