import type { Claim } from '../model/guests/claim.ts'
import { Refusal } from '../model/refusal.ts'
import { foundCheck, guestChange, readsOfCheck } from './guest-change.ts'
import { unchanged, type Operation } from './operation.ts'

/** The claim to release; it never moves to another check. */
export interface ReleaseClaim {
  claim: Pick<Claim, 'id' | 'location_id' | 'external_check_id'>
}

function reads({ claim }: ReleaseClaim) {
  return readsOfCheck(addressOf(claim))
}

function addressOf({ location_id, external_check_id }: Omit<ReleaseClaim['claim'], 'id'>) {
  return { location_id, external_id: external_check_id }
}

/** `DELETE /_sim/claims/{id}`: releases an unpaid claim, without an event. Releasing it again changes nothing. */
export const releaseClaim = {
  reads,
  decide({ checks, claims }, { claim: { id, ...address } }, { now }) {
    const before = [...claims]
    const claim = before.find((one) => one.id === id)
    if (claim === undefined) throw claimNotFound(id)
    if (claim.status === 'released') return unchanged(claim)
    if (claim.status === 'paid') throw claimNotActive([claim], 'Refund its payment in full to release it.')
    const check = foundCheck(checks, addressOf(address))
    const released: Claim = { ...claim, status: 'released' }
    const after = before.map((one) => (one === claim ? released : one))
    const { writes } = guestChange({ check, before, claims: after, paid_cents: check.paid_cents, now })
    return { reply: released, writes, events: [] }
  },
} satisfies Operation<ReleaseClaim, ReturnType<typeof reads>, Claim>

export function claimNotFound(id: string): Refusal {
  return new Refusal(
    'not_found',
    `Claim ${id} not found at this key's location. GET /claims lists the claims.`,
  )
}

/** Returns the refusal of an action that needs active claims. `advice` is a sentence. */
export function claimNotActive(claims: readonly Claim[], advice: string): Refusal {
  const names = claims.map(({ id, status }) => `${id} is ${status}`).join(', ')
  return new Refusal('claim_not_active', `Only active claims can be paid or released: ${names}. ${advice}`, {
    claims: claims.map(({ id, status, payment_id }) => ({ id, status, payment_id })),
  })
}
