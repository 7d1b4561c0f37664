/** What can befall an attempt, in the words in which it is asked for. */
export const deliveryFaultKinds = ['duplicate', 'reorder', 'delay', 'drop'] as const
export type DeliveryFaultKind = (typeof deliveryFaultKinds)[number]

/** What can befall a request to the API. */
export const apiFaultKinds = ['latency', 'error', 'reset', 'lost_answer'] as const
export type ApiFaultKind = (typeof apiFaultKinds)[number]

/** The field in which each fault of the API is asked for. */
export const apiFields = {
  latency: 'latency_ms',
  error: 'error_rate',
  reset: 'reset_rate',
  lost_answer: 'lost_answer_rate',
} as const satisfies Record<ApiFaultKind, string>
