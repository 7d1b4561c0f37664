/* A separate process: sends checks over 32 connections and prints the results as JSON. */
import autocannon from 'autocannon'

/** The load: a duration or a number of pushes, spread over this many checks. */
export interface Load {
  url: string
  apiKey: string
  /** Where checks are, before their name. */
  path?: string
  seconds?: number
  amount?: number
  /** Most pushes per second; as many as the service answers by default. */
  rate?: number
  /** Different checks; each push of one carries a higher revision than the one before. */
  checks: number
  /** The number of the first push, so that one load can follow another. */
  first: number
}

export interface LoadResult {
  perSecond: number
  p50: number
  p99: number
  max: number
  sent: number
  failed: number
}

const CONNECTIONS = 32

const load = JSON.parse(process.argv[2] ?? '{}') as Load
let number = load.first

const result = await autocannon({
  url: load.url,
  connections: CONNECTIONS,
  ...(load.rate !== undefined && { overallRate: load.rate }),
  ...(load.amount === undefined ? { duration: load.seconds ?? 5 } : { amount: load.amount }),
  requests: [{ method: 'PUT', setupRequest: (request) => ({ ...request, ...nextPush() }) }],
})

const { requests, latency, non2xx, errors } = result
process.stdout.write(
  JSON.stringify({
    perSecond: requests.total / result.duration,
    p50: latency.p50,
    p99: latency.p99,
    max: latency.max,
    sent: requests.total,
    failed: non2xx + errors,
  } satisfies LoadResult),
)

function nextPush() {
  const revision = number++
  return {
    path: `${load.path ?? '/v1/checks/external/'}check-${revision % load.checks}`,
    headers: { authorization: `Bearer ${load.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      table: { number: '12' },
      status: 'open',
      revision,
      items: [
        {
          external_id: 'line-1',
          name: 'Copper Pan Burger',
          quantity: 1,
          price_cents: 1850,
          note: 'no onions',
        },
        { external_id: 'line-2', name: 'Hand-cut Fries', quantity: 2, price_cents: 525, note: null },
        { external_id: 'line-3', name: 'House Lemonade', quantity: 1, price_cents: 600 + (revision % 100) },
      ],
      totals: {
        subtotal_cents: 3500 + (revision % 100),
        tax_cents: 280,
        total_cents: 3780 + (revision % 100),
      },
    }),
  }
}
