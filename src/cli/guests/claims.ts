import type { Client } from '../../client.ts'
import type { ClaimView } from '../../model/claim.ts'
import { paginate } from '../../client/listing.ts'
import { usageError } from '../errors.ts'

interface Reader {
  claims: Pick<Client['claims'], 'list'>
}

/**
 * The ids of the claims that are to be paid: each word is an id, or a guest's name, which stands for all active claims of
 * that guest. @throws CommandError (usage) for a name by which nobody holds an active claim.
 */
export async function claimIds(client: Reader, check: string, words: readonly string[]): Promise<string[]> {
  const ids = new Set<string>()
  let active: ClaimView[] | undefined
  for (const word of words) {
    if (word.startsWith('clm_')) ids.add(word)
    else for (const id of held((active ??= await activeClaims(client, check)), word)) ids.add(id)
  }
  return [...ids]
}

function held(active: readonly ClaimView[], name: string): string[] {
  const ids = active
    .filter(({ guest_name }) => guest_name?.toLowerCase() === name.toLowerCase())
    .map(({ id }) => id)
  if (ids.length > 0) return ids
  const known = active.map(({ id, guest_name }) => (guest_name === null ? id : `${id} (${guest_name})`))
  const those = known.length === 0 ? 'There is none on this check' : `There are ${known.join(', ')}`
  throw usageError(`--claim ${name} is neither a claim's id nor a guest with an active claim. ${those}.`)
}

async function activeClaims({ claims }: Reader, external_check_id: string): Promise<ClaimView[]> {
  const found: ClaimView[] = []
  for await (const claim of paginate(claims.list, { external_check_id }))
    if (claim.status === 'active') found.push(claim)
  return found
}
