import { Errors, Flags } from '@oclif/core'
import { ApiError, type Client } from '../client.ts'
import { durationMs, localTimeIssue, parseTime } from '../model/text/time.ts'

/** A time, or a duration before now. */
export type Since = { time: Date } | { agoMs: number }

/** An ISO 8601 time, or a duration ago: `90s`, `1h30m`, `2d`. */
export const sinceFlag = Flags.custom<Since>({
  parse: async (input) => {
    const agoMs = durationMs(input)
    if (agoMs !== undefined) return { agoMs }
    const time = parseTime(input)
    if (time !== undefined) return { time }
    const issue = `must be an ISO 8601 time or a duration ago such as 90s, 30m, 2h or 1d, got ${JSON.stringify(input)}`
    throw new Errors.CLIError(`${localTimeIssue(input) ?? issue}.`)
  },
})

/** Resolves a time. A duration ago counts back from the service clock, which dates the records. */
export async function startOfSince(client: Pick<Client, 'clock'>, since: Since): Promise<Date> {
  if ('time' in since) return since.time
  // No record is older, and dates end some 270,000 years ago.
  return new Date(Math.max(0, (await nowOf(client)).getTime() - since.agoMs))
}

/** Returns the time of the service clock. */
export async function nowOf(client: Pick<Client, 'clock'>): Promise<Date> {
  const clock = await client.clock.show().catch((error: unknown) => {
    // A service that is not a simulator has no clock to ask.
    if (error instanceof ApiError && error.status === 404) return { now: new Date() }
    throw error
  })
  return new Date(clock.now)
}
