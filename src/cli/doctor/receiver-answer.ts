import { Agent, request } from 'undici'
import type { Finding } from './finding.ts'

/** As long as a delivery may take (specification section 8), in milliseconds. */
const PATIENCE_MS = 10_000
/** Half of what receivers take for the present (specification section 5), in milliseconds. */
const TOLERANCE_MS = 150_000

/** Asks for the head of the receiver's page, which does nothing there, and looks at the answer's status and date. */
export async function* askReceiver(
  url: URL,
  ca: readonly string[],
  now: Date,
): AsyncGenerator<Finding, void> {
  const dispatcher = new Agent({ connect: { ca: [...ca] } })
  const asked = { method: 'HEAD', dispatcher, signal: AbortSignal.timeout(PATIENCE_MS) } as const
  try {
    const { statusCode, headers } = await request(url, asked)
    yield statusFinding(statusCode, String(headers.location ?? ''))
    if (typeof headers.date === 'string') yield* clockFinding(new Date(headers.date), now)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = `It takes the connection, but does not answer (${code ?? message}).`
    yield { check: 'receiver answer', level: 'bad', message: why, advice: 'Look for a crash in its log.' }
  } finally {
    await dispatcher.close()
  }
}

function statusFinding(status: number, location: string): Finding {
  const check = 'receiver answer'
  if (status < 300 || status >= 400)
    return {
      check,
      level: 'good',
      message: `It answers; HEAD with ${status}, which says nothing of deliveries.`,
    }
  const message = `It redirects (${status}) to ${location || 'nowhere'}, and deliveries do not follow.`
  return { check, level: 'bad', message, advice: 'Register the address that it redirects to.' }
}

function clockFinding(theirs: Date, ours: Date): Finding[] {
  const apart = Math.abs(theirs.getTime() - ours.getTime())
  const check = 'receiver clock'
  if (Number.isNaN(apart)) return []
  if (apart < TOLERANCE_MS)
    return [{ check, level: 'good', message: 'Its clock and that of this machine agree.' }]
  const message = `Its clock and that of this machine are ${Math.round(apart / 1000)} s apart; past 300 s signatures are refused.`
  return [{ check, level: 'note', message, advice: 'Set both by the network.' }]
}
