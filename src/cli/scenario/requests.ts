import type { Action } from './schema.ts'

type Of<Name extends Action['do']> = Extract<Action, { do: Name }>
type Wire = readonly [method: string, path: string, body?: unknown]

/** What each kind of step asks of the service; `check` is the external id by now, and `body` what a POS sends. */
export const requests: { [Name in Action['do']]: (step: Of<Name> & { body?: unknown }) => Wire } = {
  push: ({ check, body }) => ['PUT', `/v1/checks/external/${one(check)}`, body],
  close: ({ check, body }) => ['PUT', `/v1/checks/external/${one(check)}`, body],
  claim: ({ check, guest_name, items }) => [
    'POST',
    `/_sim/checks/${one(check)}/claims`,
    { guest_name, items },
  ],
  release: ({ claim }) => ['DELETE', `/_sim/claims/${one(claim)}`],
  pay: ({ check, guest_name, claim_ids, amount_cents, tip_cents }) => [
    'POST',
    `/_sim/checks/${one(check)}/payments`,
    { guest_name, claim_ids, amount_cents, tip_cents },
  ],
  refund: ({ payment, amount_cents }) => ['POST', `/_sim/payments/${one(payment)}/refunds`, { amount_cents }],
  rate: ({ check, guest_name, rating, comment }) => [
    'POST',
    `/_sim/checks/${one(check)}/feedback`,
    { guest_name, rating, comment },
  ],
  advance: ({ by }) => ['POST', '/_sim/clock', { advance: by }],
}

const one = encodeURIComponent
