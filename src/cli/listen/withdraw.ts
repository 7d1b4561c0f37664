import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client.ts'
import { unregister } from './endpoints.ts'
import { dropLease } from './lease.ts'
import type { Stand } from './stand.ts'

/** How long the removal of the endpoints may hold up the end: a service that hangs is left to the next `listen`. */
const REMOVAL_MS = 3_000

/** Removes the endpoints and closes the door; tells whether the service was there to have them removed. */
export async function withdraw(stand: Stand, connect: () => Promise<Client>): Promise<boolean> {
  const urls = stand.routes.map(({ url }) => url)
  const removal = connect().then((client) => unregister(client, urls))
  const late = sleep(REMOVAL_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('too late')))
  try {
    await Promise.race([removal, late])
    await dropLease(stand.lease)
    return true
  } catch {
    return false
  } finally {
    await stand.close()
  }
}
