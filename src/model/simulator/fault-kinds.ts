/** Kinds of faults that are injected into delivery attempts, as fields of a fault. */
export const deliveryFaultKinds = ['duplicate', 'reorder', 'delay', 'drop'] as const
export type DeliveryFaultKind = (typeof deliveryFaultKinds)[number]

/** Kinds of faults that are injected into API requests. */
export const apiFaultKinds = ['latency', 'error', 'reset', 'lost_answer'] as const
export type ApiFaultKind = (typeof apiFaultKinds)[number]

/** Field of a fault that requests each API fault. */
export const apiFields = {
  latency: 'latency_ms',
  error: 'error_rate',
  reset: 'reset_rate',
  lost_answer: 'lost_answer_rate',
} as const satisfies Record<ApiFaultKind, string>
