import { signal } from '@preact/signals'
import { outcome } from './announce.tsx'
import { tellReturn } from './news.ts'

/** What is under way, so that nothing is asked for twice. */
export const busy = signal(false)

/** Does something that changes the service, says what came of it, and has all that is shown looked at again. */
export async function act(work: () => Promise<string>): Promise<void> {
  if (busy.value) return
  busy.value = true
  outcome.value = null
  try {
    outcome.value = { text: await work(), bad: false }
  } catch (error) {
    outcome.value = { text: error instanceof Error ? error.message : String(error), bad: true }
  } finally {
    busy.value = false
    tellReturn()
  }
}
