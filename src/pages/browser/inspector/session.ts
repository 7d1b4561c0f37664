import { Refused } from '../call.ts'
import { ask } from './ask.ts'
import { keepPageSecret } from './page-secret.ts'
import { session, type Session } from './session-state.ts'

/** Takes the code out of the address before anything else, exchanges it, and asks who it is for. */
export async function beginSession(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('link')
  if (code !== null) {
    history.replaceState(null, '', location.pathname + location.search)
    // A link that was used already does no harm to a session that is there.
    await ask<{ page_secret: string }>('POST', '/session', { code }).then(
      ({ page_secret }) => keepPageSecret(page_secret),
      () => undefined,
    )
  }
  try {
    session.value = (await ask<{ session: Session | null }>('GET', '/session')).session ?? 'none'
  } catch (error) {
    session.value = error instanceof Refused && error.code === 'unreachable' ? 'unreachable' : 'none'
  }
}
