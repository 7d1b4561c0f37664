import { Refused } from './call.ts'

/** What a guest is told of a refusal: what has happened, and that nothing else has. */
export function problemOf(error: unknown): string {
  const code = error instanceof Refused ? error.code : ''
  return problems[code] ?? 'That did not work. Please try again.'
}

const problems: Record<string, string> = {
  not_claimable: 'Somebody else was quicker, or the check has changed. You see it as it is now.',
  amount_changed: 'The check has just changed, so nothing was paid. Please look at the new amount.',
  exceeds_balance: 'Less is left to pay than that, so nothing was paid. You see what is left now.',
  card_declined: 'The card was declined. Nothing was paid. Try another card.',
  claim_not_active: 'That was paid or given back already. You see it as it is now.',
  not_found: 'This check is not at your table any more.',
  unreachable:
    'No answer came, so it may or may not have worked. What you see is brought up to date when you are back.',
  storage_unavailable: 'The service cannot keep anything just now. Nothing was changed. Please try again.',
  shutting_down: 'The service is stopping. Nothing was changed. Please try again.',
}
