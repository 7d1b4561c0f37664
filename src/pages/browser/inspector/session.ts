import { signal } from '@preact/signals'
import type { Location } from '../../../model/location.ts'
import { Refused } from '../call.ts'
import { ask } from './ask.ts'

/** What the page knows of the service, once it may. */
export interface Session {
  service_name: string
  location: Location | null
}

/** The session of this page; before it is known, or when there is none, why. */
export const session = signal<Session | 'beginning' | 'none' | 'unreachable'>('beginning')

/** Takes the code out of the address before anything else, exchanges it, and asks who it is for. */
export async function beginSession(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('link')
  if (code !== null) {
    history.replaceState(null, '', location.pathname + location.search)
    // A link that was used already does no harm to a session that is there.
    await ask('POST', '/session', { code }).catch(() => undefined)
  }
  try {
    session.value = (await ask<{ session: Session | null }>('GET', '/session')).session ?? 'none'
  } catch (error) {
    session.value = error instanceof Refused && error.code === 'unreachable' ? 'unreachable' : 'none'
  }
}
