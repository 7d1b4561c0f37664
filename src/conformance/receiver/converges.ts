import type { ReceiverCase, Row } from './case.ts'

interface ConvergeRow extends Row {
  id: 'deduplicates' | 'orders'
}

const rows: readonly ConvergeRow[] = [
  {
    id: 'deduplicates',
    title: 'Repeated deliveries change nothing',
    reason:
      'Delivery is at least once, and receivers deduplicate on the envelope id (specification section 6): after a timeout or a restart the same payment would be counted twice.',
  },
  {
    id: 'orders',
    title: 'The state is the same after any order of deliveries',
    reason:
      'Order is not guaranteed (specification section 6): a retry that arrives late would bring back an old state, such as a removed item or an open check.',
  },
]

/** The receiver's own view ends the same in any order and with duplicates. Needs `--state-url`. */
export const converges: readonly ReceiverCase[] = rows.map((row) => ({
  group: 'converges',
  ...row,
  examine: async ({ convergence, send }) => convergence?.judge(row.id, send) ?? NO_STATE_URL,
}))

const NO_STATE_URL = {
  notChecked:
    'The state of the receiver is not visible. Pass --state-url with the URL where it shows a check, such as http://localhost:3000/checks/{external_check_id}.',
}
