import { createHmac } from 'node:crypto'
import { field } from './ask.ts'
import type { Arrival, Hook } from './hooks.ts'
import type { Site } from './site.ts'

/** The body as JSON; `undefined` when it is none. */
export function bodyOf({ body }: Arrival): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

/** The ids of the events that have come. */
export function idsOf({ arrivals }: Hook): Set<unknown> {
  return new Set(arrivals.map((arrival) => field(bodyOf(arrival), 'id')))
}

/** The different bodies that have come. */
export function bodiesOf({ arrivals }: Hook): Set<string> {
  return new Set(arrivals.map(({ body }) => body.toString('latin1')))
}

/** What the header of a delivery says; texts are empty where it does not. */
export function signatureOf(site: Pick<Site, 'serviceName'>, { headers }: Arrival) {
  const header = String(headers[`x-${site.serviceName.toLowerCase()}-signature`] ?? '')
  return { header, t: /\bt=(\d+)/.exec(header)?.[1] ?? '', v1: /\bv1=([^,\s]+)/.exec(header)?.[1] ?? '' }
}

/** Whether the signature is that of the raw body, in whichever case its digits are. */
export function isGenuine(site: Pick<Site, 'serviceName'>, arrival: Arrival, secret: string): boolean {
  const { t, v1 } = signatureOf(site, arrival)
  return createHmac('sha256', secret).update(`${t}.`).update(arrival.body).digest('hex') === v1.toLowerCase()
}
