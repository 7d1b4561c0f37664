import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import stringWidth from 'fast-string-width'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkBody, emptyDirectory, fixtures, serve, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { secret, startReference } from '../conformance/receiver/check.ts'
import { isSoak, sampled } from '../soak/seeded.ts'
import { hasTmux, inTmux, openScreen, type Screen } from '../support/tmux.ts'

/** Records that the commands below name. */
interface Place {
  service: RunningService
  /** A folder without a service. */
  elsewhere: string
  /** A receiver that accepts everything. */
  receiver: Receiver
  receiverUrls: { right: string; wrong: string }
  ids: Record<
    'check' | 'delivered' | 'failing' | 'event' | 'endpoint' | 'request' | 'refused' | 'claim' | 'payment',
    string
  >
}

/** A command, and what it takes beside its words. */
interface Use {
  words: (place: Place) => readonly string[]
  /** Runs where no service is. */
  alone?: boolean
  until?: RegExp
  /** Runs in a process of its own: exit code, output and terminal are as users have them. */
  isNew?: boolean
  env?: Record<string, string>
  /** Exit code; 0 by default. */
  code?: number
}

const LONG = 'banquet-for-the-annual-meeting-of-the-society-2026-11-23-table-0042'
const items = [
  { external_id: '1', name: '寿司盛り合わせ 特上 二人前', quantity: 2, price_cents: 128_450 },
  {
    external_id: `line-${LONG}`,
    name: '🍣 Nigiri platter of the house with pickled ginger and wasabi',
    quantity: 1,
    price_cents: 780,
    note: 'no wasabi please, and the sauce beside it, since one guest is allergic to sesame',
  },
  { external_id: 'line-3', name: 'مشاوي مشكلة', quantity: 12.5, price_cents: 1450 },
]
const totals = { subtotal_cents: 275_805, tax_cents: 24_822, total_cents: 300_627 }
const rich = (changes = {}) =>
  checkBody({ table: { number: 'Terrace 12 by the window' }, items, totals, ...changes })

const on = (...words: string[]): Use => ({ words: () => words })
const about = (
  words: (place: Place['ids'], all: Place) => readonly string[],
  more: Omit<Use, 'words'> = {},
): Use => ({
  words: (place) => words(place.ids, place),
  ...more,
})

/** Every command that prints for people. */
const uses: Record<string, Use> = {
  tabwire: { words: () => [], isNew: true },
  '--help': on('--help'),
  'help guides': on('help', 'guides'),
  'help webhooks': { words: () => ['help', 'webhooks'], env: { PAGER: 'cat' } },
  'checks list': on('checks', 'list'),
  'checks samples': on('checks', 'samples'),
  'checks show': about(({ check }) => ['checks', 'show', check]),
  'clock advance': on('clock', 'advance', '1s'),
  'clock freeze': on('clock', 'freeze', '--off'),
  'clock show': on('clock', 'show'),
  'contract check': { words: () => ['contract', 'check', '--only', 'access'], alone: true },
  'contract check, refused': about(
    (_ids, { service }) => [
      'contract',
      'check',
      '--base-url',
      `${service.url}/v1`,
      '--api-key',
      'wrong',
      '--only',
      'access',
    ],
    { code: 4, alone: true },
  ),
  'deliveries list': on('deliveries', 'list'),
  'deliveries resend': about(({ delivered }) => ['deliveries', 'resend', delivered]),
  'deliveries show': about(({ failing }) => ['deliveries', 'show', failing]),
  'deliveries wait': about(({ check }) => [
    'deliveries',
    'wait',
    '--check',
    check,
    '--type',
    'check.created',
    '--timeout',
    '5',
  ]),
  'deliveries wait, in vain': {
    words: () => [
      'deliveries',
      'wait',
      '--check',
      `${LONG}-other`,
      '--type',
      'feedback.received',
      '--timeout',
      '3',
    ],
    code: 3,
  },
  demo: { words: () => ['demo'], alone: true, isNew: true },
  doctor: on('doctor'),
  'doctor --receiver': about((_ids, { receiverUrls }) => ['doctor', '--receiver', receiverUrls.right], {}),
  'endpoints create': about((_ids, { receiver }) => [
    'endpoints',
    'create',
    `${receiver.url}a/long/path/of/webhooks`,
    '--events',
    'all',
  ]),
  'endpoints list': on('endpoints', 'list'),
  'endpoints show': about(({ endpoint }) => ['endpoints', 'show', endpoint]),
  'endpoints delete': { words: () => ['endpoints', 'delete', 'we_01K9YQ3S2M6W5VJ8T4R7N0ZBCD'], code: 1 },
  'events list': on('events', 'list'),
  'events show': about(({ event }) => ['events', 'show', event]),
  exec: { words: () => ['exec', '--', process.execPath, '-e', '0'], alone: true },
  'faults set': on('faults', 'set', 'duplicate=0', 'drop=0', 'reorder=0', 'delay=0'),
  'faults show': on('faults', 'show'),
  'faults clear': on('faults', 'clear'),
  'guests claim': about(({ check }) => [
    'guests',
    'claim',
    check,
    'line-3=0.001',
    '--name',
    'Anna-Lena 안나 🎉 Fitzgerald-Montgomery',
  ]),
  'guests pay': about(({ check }) => [
    'guests',
    'pay',
    check,
    '--amount',
    '0.01',
    '--name',
    'Anna-Lena 안나 🎉 Fitzgerald-Montgomery',
  ]),
  'guests play': on('guests', 'play', '--until-paid', '--pace', '0s', '--table', 'none'),
  'guests rate': about(({ check }) => [
    'guests',
    'rate',
    check,
    '5',
    '--comment',
    'The sushi was excellent, and everybody was very kind to our noisy party of twelve 🍣',
  ]),
  'guests refund': about(({ payment }) => ['guests', 'refund', payment, '--amount', '0.01']),
  'guests release': { words: () => ['guests', 'release', 'clm_01K9YQ3S2M6W5VJ8T4R7N0ZBCD'], code: 1 },
  'keys create': on('keys', 'create', '--name', 'A key of the point of sale in the restaurant by the river'),
  'keys list': on('keys', 'list'),
  listen: about((_ids, { receiver }) => ['listen', '--forward-to', receiver.url], {
    until: /Listening\.[^]*to stop/,
  }),
  locations: on('locations'),
  ping: about(({ endpoint }) => ['ping', endpoint]),
  push: about((_ids, { service }) => ['push', join(service.cwd, 'push.json'), '--id', `${LONG}-other`]),
  'push, refused': about((_ids, { service }) => ['push', join(service.cwd, 'refused.json')], { code: 1 }),
  'push --sample': on('push', '--sample', 'bar-tab'),
  'push --permute': { words: () => ['push', '--sample', 'bar-tab', '--permute', '3'] },
  qr: on('qr', '12'),
  'receiver check': about((_ids, { receiverUrls }) => [
    'receiver',
    'check',
    receiverUrls.right,
    '--secret',
    secret,
  ]),
  'receiver check, wrong': about(
    (_ids, { receiverUrls }) => ['receiver', 'check', receiverUrls.wrong, '--secret', secret],
    { code: 3 },
  ),
  replay: { words: () => ['replay', 'failure.json', '--account', '--fail-on', 'any'], code: 3 },
  report: { words: () => ['report'], code: 3 },
  'report --account': { words: () => ['report', '--account'], code: 3 },
  'requests list': on('requests', 'list'),
  'requests show': about(({ request }) => ['requests', 'show', request]),
  'requests show, refused': about(({ refused }) => ['requests', 'show', refused]),
  'scenario explore': on('scenario', 'explore', '--runs', '3'),
  'scenario explore, with a counterexample': {
    words: () => ['scenario', 'explore', 'stale.json', '--id', LONG, '--force'],
    code: 3,
  },
  'scenario list': on('scenario', 'list'),
  'scenario run': on('scenario', 'run', 'dinner-for-four'),
  'scenario run, failed': about(
    (_ids, { service }) => ['scenario', 'run', join(service.cwd, 'scenario.json')],
    { code: 3 },
  ),
  sign: { words: () => ['sign', '--secret', secret, '--body', 'push.json'] },
  start: { words: () => ['start', '--in-memory', '--port', '0'], alone: true, until: /Ctrl-C/ },
  'state list': on('state', 'list'),
  'state save': on('state', 'save', 'before-the-great-banquet-of-the-society'),
  tail: { words: () => ['tail', '--since', '40h', '--requests'], until: /LIVE[^]*quit/ },
  'tail --bodies': {
    words: () => ['tail', '--since', '40h', '--bodies', '--no-keys'],
    until: /feedback\.received/,
  },
  trigger: on('trigger', 'payment.refunded'),
  verify: {
    words: () => [
      'verify',
      '--secret',
      secret,
      '--header',
      `t=1,v1=${'0'.repeat(64)}`,
      '--body',
      'push.json',
    ],
    code: 3,
  },
  'an unknown command': { words: () => ['delivery', 'lst'], code: 2, isNew: true },
  'a missing flag': { words: () => ['receiver', 'check', '3000'], code: 2 },
}

/** Commands that print nothing for people, or replace what the others need. */
const others = [
  'complete',
  'deliveries:export',
  'completion',
  'open',
  'openapi',
  'help',
  'certs:create',
  'config:trust',
  'keys:revoke',
  'mcp',
  'receiver:example',
  'skill',
  'state:load',
  'state:reset',
]

test('every command is tested at each width, or is listed as an exception', () => {
  const manifest = JSON.parse(
    readFileSync(fileURLToPath(new URL('../../oclif.manifest.json', import.meta.url)), 'utf8'),
  ) as { commands: Record<string, unknown> }
  const shown = Object.keys(uses).map((name) => name.replace(/,.*| --.*/, '').replace(' ', ':'))
  expect([...new Set(shown), ...others]).toEqual(expect.arrayContaining(Object.keys(manifest.commands)))
})

/** A word that is longer than the terminal: a URL, a signature, a key or an external id, alone on its line. */
const ALONE = /^ {0,2}\S+(?: \\)?$/

function problems(lines: readonly string[], columns: number): string[] {
  const wide = lines.filter(
    (line) => stringWidth(line) > columns && !(ALONE.test(line) && stringWidth(line.trim()) > columns - 2),
  )
  // An identifier is a prefix and 26 characters; a shorter one was broken or cut.
  const broken = lines.flatMap(
    (line) =>
      line.match(/\b(?:chk|dlv|evt|we|clm|pay|fbk|key|loc|req)_[0-9A-HJKMNP-TV-Z]{1,25}(?![\w])/g) ?? [],
  )
  return [...wide, ...broken]
}

/** Amounts without their currency. Sizes, durations and versions have one digit after the point, or three. */
const BARE_AMOUNT = /(?<![\d.,$£€¥])\d[\d,]*\.\d\d(?![\d.])/

/** Commands that print amounts. */
const withMoney = /^(?:checks|push|guests|trigger|scenario|demo|requests show)/

/** Returns the lines of bodies that are not behind their bar. */
function outsideOfBar(lines: readonly string[]): string[] {
  const begins = lines.flatMap((line, index) =>
    /^ {4}(?:request body|event):$/.test(line) ? [index + 1] : [],
  )
  return begins.flatMap((begin) => {
    const body = lines.slice(
      begin,
      lines.findIndex((line, index) => index > begin && /^ {4}│ \}$/.test(line)),
    )
    return body.filter((line) => !line.startsWith('    │ '))
  })
}

let place: Place

beforeAll(async () => {
  if (!hasTmux) return
  const service = await serve({ allowHttpLoopback: true })
  const [receiver, failing] = [
    await startReceiver(),
    await startReceiver({
      answer: (response) =>
        response
          .writeHead(500, {
            'content-type': 'application/json',
            'x-trace': 'x'.repeat(150),
            'set-cookie': ['a=1', 'b=2'],
          })
          .end(
            JSON.stringify({
              error: {
                code: 'unknown_table',
                message: 'The table "Terrace 12 by the window" is not one of ours 寿司'.repeat(3),
                trace: ['handlers/webhooks/check-created.ts:12:7', 'x'.repeat(150)],
              },
            }),
          ),
    }),
  ]
  const right = await startReference([process.execPath, join(fixtures, 'receivers', 'node.mjs')])
  const wrong = await startReference([
    process.execPath,
    join(fixtures, 'receivers', 'wrong', 'has-another-secret.mjs'),
  ])
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await service.call(method, path, body)
    return {
      json: (await response.json()) as { id: string },
      request: response.headers.get('x-request-id') ?? '',
    }
  }
  const { json: endpoint } = await call('POST', '/v1/webhook-endpoints', {
    url: `${receiver.url}hooks/of/a/rather/long/path/that/no/narrow/terminal/holds?tenant=harbour-side`,
    event_types: ['check.created', 'payment.succeeded', 'check.closed', 'feedback.received'],
  })
  await call('POST', '/v1/webhook-endpoints', {
    url: `${failing.url}broken`,
    event_types: ['check.created', 'check.updated'],
  })
  const path = `/v1/checks/external/${LONG}`
  const pushed = await call('PUT', path, rich())
  await call('PUT', '/v1/checks/external/two-top', checkBody())
  const refused = await call('PUT', '/v1/checks/external/bad', { ...rich(), totals: { total_cents: 'many' } })
  await call('PUT', path, rich({ table: { number: '14' }, items: items.slice(0, 2) }))
  await call('PUT', path, rich({ table: { number: '15' } }))
  const { json: claim } = await call('POST', `/_sim/checks/${LONG}/claims`, {
    guest_name: 'Anna-Lena 안나 🎉',
    items: [{ external_id: '1', quantity: 1 }],
  })
  const { json: payment } = await call('POST', `/_sim/checks/${LONG}/payments`, {
    guest_name: 'Ben',
    amount_cents: 5000,
    tip_cents: 700,
  })
  await call('POST', `/_sim/checks/${LONG}/feedback`, { rating: 4, comment: 'Good' })
  await call('POST', '/_sim/clock', { advance: '36h' })
  await call('POST', '/_sim/clock', { freeze: false })
  const { data } = await service.json<{ data: { id: string; event_id: string; status: string }[] }>(
    'deliveries',
    'list',
  )
  const of = (status: string) => data.find((one) => one.status === status)
  await writeFile(
    join(service.cwd, 'push.json'),
    JSON.stringify(rich({ table: { number: '16' }, items: items.slice(1) })),
  )
  await writeFile(
    join(service.cwd, 'refused.json'),
    JSON.stringify({ ...rich(), totals: { total_cents: 'many' } }),
  )
  const stale = [items.slice(0, 2), items, items.slice(0, 2)]
  await writeFile(
    join(service.cwd, 'stale.json'),
    JSON.stringify(stale.map((some, at) => rich({ items: some, revision: at + 1 }))),
  )
  const scenario = JSON.parse(readFileSync(join(fixtures, 'scenarios', 'dinner-for-four.json'), 'utf8')) as {
    steps: { do: string; is?: unknown }[]
  }
  const broken = scenario.steps.map((step) =>
    step.do === 'expect'
      ? { ...step, is: { status: 'closed', table: { number: 'Terrace 12 by the window' } } }
      : step,
  )
  await writeFile(join(service.cwd, 'scenario.json'), JSON.stringify({ ...scenario, steps: broken }))
  await service.run(['report', '--bundle', 'failure.json'])
  place = {
    service,
    elsewhere: await emptyDirectory(),
    receiver,
    receiverUrls: { right: right.url, wrong: wrong.url },
    ids: {
      check: LONG,
      delivered: of('delivered')?.id ?? '',
      failing: of('dead')?.id ?? '',
      event: data[0]?.event_id ?? '',
      endpoint: endpoint.id,
      request: pushed.request,
      refused: refused.request,
      claim: claim.id,
      payment: payment.id,
    },
  }
  return async () => {
    await service.stop()
    await receiver.close()
    await failing.close()
  }
})

describe.runIf(hasTmux).each(isSoak ? [60, 80, 120] : [60])(`at %i columns ${inTmux}`, (columns) => {
  let screen: Screen
  beforeAll(async () => {
    screen = await openScreen(columns)
  })

  test.concurrent.each(sampled(Object.entries(uses), 3))(
    'the output of %s fits',
    async (name, { words, alone = false, code = 0, ...use }) => {
      const cwd = alone ? await emptyDirectory() : place.service.cwd
      const shown = await screen.show(words(place), { ...use, cwd })
      if (process.env.SHOW_SCREENS)
        await writeFile(join(process.env.SHOW_SCREENS, `${columns} ${name}`), `${shown.lines.join('\n')}\n`)
      expect({ problems: problems(shown.lines, columns), code: shown.code ?? code }).toEqual({
        problems: [],
        code,
      })
      expect(outsideOfBar(shown.lines)).toEqual([])
      // Amounts that people type are written as on the bill.
      if (withMoney.test(name)) expect(shown.lines.filter((line) => BARE_AMOUNT.test(line))).toEqual([])
    },
  )
})
