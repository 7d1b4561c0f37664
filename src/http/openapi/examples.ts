import { readFile } from 'node:fs/promises'
import { webhookTypes } from './webhooks.ts'
import { refTo, type Json } from './json.ts'
import { type Location, noRecords } from '../../model/records.ts'
import { stateOf } from '../../model/simulator/state.ts'
import { packageFile } from '../../package-file.ts'
import type { Check } from '../../model/check.ts'
import type { Claim, Payment } from '../../model/guests/records.ts'
import { isFullyPaid, withClaims } from '../../model/guests/claimed-items.ts'
import { viewAtTable } from '../../model/guests/guest-table.ts'

/** Examples by component name: `Name` for a single example, `Name.example` for several. */
export type Examples = Readonly<Record<string, { summary: string; value: unknown }>>

type Named = [name: string, Examples[string]]

/** Example checks, simplest first. */
const checks = ['two-top', 'just-seated', 'discount-line', 'weighed-goods']

/** Reads the examples from `fixtures`. */
export async function readExamples(): Promise<Examples> {
  const pushes = await Promise.all(checks.map(pushed))
  const events = await Promise.all(webhookTypes.map((type) => fixture<Json>(`events/${type}.json`)))
  const [place] = await fixture<Json[]>('locations.json')
  const dataOf = (type: string) => events.find((event) => event.type === type)?.data as Json
  const [check, claim, payment] = ['check.created', 'claim.created', 'payment.succeeded'].map(dataOf)
  const { rating, comment, ...rest } = dataOf('feedback.received')
  const endpoint = dataOf('ping')
  const tableRecords = { place, check: dataOf('check.updated'), claim, payment } as unknown as TableRecords
  const ofCheck = { external_check_id: check?.external_id }
  const feedback = { guest_name: rest.guest_name, rating, comment }
  const claiming = claimed(claim)
  const paying = { claim_ids: payment?.claim_ids, tip_cents: payment?.tip_cents }
  const location = { id: check?.location_id, ...place, created_at: '2026-11-20T09:15:42.000Z' }
  const records = {
    Location: location,
    Check: check,
    Claim: claim,
    Payment: payment,
    Feedback: { ...rest, rating, comment },
    WebhookEndpoint: endpoint,
  }
  const all: Named[] = [
    ...checks.map((name, index): Named => [
      `CheckPush.${name}`,
      example(name.replaceAll('-', ' '), pushes[index]),
    ]),
    ...webhookTypes.map((type, index): Named => [type, example(type, events[index])]),
    ...Object.entries(records).flatMap(([name, value]): Named[] => [
      [name, example(name, value)],
      [`${name}List`, example('A page of a list', { data: [value], next_cursor: null })],
    ]),
    [
      'RegisteredWebhookEndpoint',
      example('With the signing secret', { ...endpoint, signing_secret: SECRET }),
    ],
    [
      'WebhookEndpointRegistration',
      example('All events', { url: endpoint.url, event_types: endpoint.event_types }),
    ],
    ['ClaimRequest', example('One item', claiming)],
    ['PaymentRequest', example('Claims and a tip', paying)],
    ['FeedbackRequest', example('A rating', feedback)],
    ['TableView', example('The table after a payment', tableExample(tableRecords))],
    ['TableClaimRequest', example('One item', { ...ofCheck, ...claiming })],
    [
      'TablePaymentRequest',
      example('Claims and a tip', { ...ofCheck, ...paying, expected_cents: payment?.amount_cents }),
    ],
    ['TableFeedbackRequest', example('A rating', { ...ofCheck, ...feedback })],
    ['ClockMove', example('Advance by 36 hours', { advance: '36h' })],
    [
      'ChosenSecretRegistration',
      example('Closed checks', { url: endpoint.url, event_types: ['check.closed'], signing_secret: SECRET }),
    ],
    ['RefundRequest', example('Part of a payment', { amount_cents: 500 })],
    ['ResendRequest', example('New signature', { fresh: true })],
    [
      'OfferAnswer',
      example('A response', {
        offer: 'off_01KAJ8Z5QK3V7D0W4T2R9X6YHM',
        duration_ms: 12,
        status: 204,
        headers: [{ name: 'Content-Length', value: '0' }],
        body: '',
      }),
    ],
    [
      'FaultsRequest',
      example('Duplicate 10% of deliveries, return some errors', {
        seed: 7,
        faults: [
          { on: 'deliveries', duplicate: 0.1 },
          { on: 'api', error_rate: 0.05, error_status: 503, paths: ['PUT /v1/checks/*'], times: 20 },
        ],
      }),
    ],
    ['KeyRequest', example('A read-only key', { name: 'dashboard', scopes: ['read'] })],
    ['SessionCode', example('Code of a link', { code: 'CodeOfTheLinkThatOpenPrints' })],
    [
      'State',
      example(
        'Only one location',
        stateOf({ ...noRecords, locations: [location as unknown as Location] }, standing),
      ),
    ],
  ]
  return Object.fromEntries(all)
}

/** Returns references to the examples of a component. */
export function examplesOf(examples: Examples, name: string): Json {
  const names = Object.keys(examples).filter((key) => key === name || key.startsWith(`${name}.`))
  if (names.length === 0) return {}
  const short = (key: string) => key.slice(name.length + 1) || 'example'
  return { examples: Object.fromEntries(names.map((key) => [short(key), refTo('examples', key)])) }
}

/** Clock time of the example state. */
const standing = { now: '2026-11-21T18:00:00.000Z', frozen: true }

/** A secret of valid form that signs nothing. */
const SECRET = `whsec_${'example'.padEnd(43, '_')}`

function example(summary: string, value: unknown) {
  return { summary, value }
}

function claimed(claim: Json | undefined): Json {
  const items = (claim?.items ?? []) as { external_id: string; quantity: number }[]
  return {
    guest_name: claim?.guest_name,
    items: items.map(({ external_id, quantity }) => ({ external_id, quantity })),
  }
}

/** Returns a push without the relative path of its schema. */
async function pushed(name: string): Promise<Json> {
  const { $schema: _schema, ...push } = await fixture<Json>(`checks/${name}.json`)
  return push
}

async function fixture<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(packageFile(`fixtures/${path}`), 'utf8')) as T
}

/** Records from `fixtures`: a check with a claim and a payment. */
interface TableRecords {
  place: Pick<Location, 'name' | 'currency' | 'timezone'>
  /** The check before claim and payment. */
  check: Check
  claim: Claim
  payment: Payment
}

/** Returns the table as a guest sees it after a payment, created by the function of the route. */
function tableExample({ place, check, claim, payment }: TableRecords) {
  const guest_hash = 'of the guest who asks'
  const paid: Claim = { ...claim, status: 'paid', payment_id: payment.id, guest_hash }
  const money = {
    paid_cents: payment.amount_cents,
    balance_cents: check.totals.total_cents - payment.amount_cents,
  }
  const after: Check = {
    ...check,
    ...money,
    items: withClaims(check.items, [paid], isFullyPaid(money)),
    updated_at: payment.created_at,
  }
  return {
    table: check.table,
    location: place,
    checks: [viewAtTable(after, [paid], [{ ...payment, guest_hash }], guest_hash)],
  }
}
