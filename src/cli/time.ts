import { Errors, Flags } from '@oclif/core'
import { ApiError, type Client } from '../client.ts'

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time, or a duration before now. */
export type Since = { time: Date } | { agoMs: number }

/** An ISO 8601 time, or a duration ago: `90s`, `30m`, `2h`, `1d`. */
export const sinceFlag = Flags.custom<Since>({
  parse: async (input) => {
    const [, number, unit] = /^(\d{1,9})([smhd])$/.exec(input) ?? []
    if (unit !== undefined) return { agoMs: Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS] }
    const time = new Date(input)
    // JavaScript also parses texts such as 2.
    if (Number.isNaN(time.getTime()) || !/^\d{4}-/.test(input))
      throw new Errors.CLIError(
        `must be an ISO 8601 time or a duration ago such as 90s, 30m, 2h or 1d, got ${JSON.stringify(input)}.`,
      )
    return { time }
  },
})

/** Resolves a time. A duration ago counts back from the service clock, which dates the records. */
export async function timeOf(client: Pick<Client, 'clock'>, since: Since): Promise<Date> {
  return 'time' in since ? since.time : new Date((await nowOf(client)).getTime() - since.agoMs)
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
