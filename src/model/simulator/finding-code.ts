/** The codes of contract section 11, in its order: what can be wrong with an integration. */
export const findingCodes = [
  'totals_mismatch',
  'unknown_field',
  'revision_missing',
  'revision_reused',
  'reopen_needs_revision',
  'possible_late_retry',
  'item_id_reused',
  'item_id_unstable',
  'delta_suspected',
  'conflict_ignored',
  'no_idempotent_retry',
  'push_refused',
  'invalid_push_repeated',
  'quantity_precision',
] as const

export type FindingCode = (typeof findingCodes)[number]
