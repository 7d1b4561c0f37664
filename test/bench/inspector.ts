import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Figure } from './figure.ts'
import type { LoadResult } from './load.ts'
import { API_KEY, run, startReceiver, startTabwire } from './processes.ts'
import { median, register } from './pushes.ts'

const DELIVERIES = 100_000
/** Deliveries per event: a service keeps 10,000 events. */
const PER_EVENT = 100
const ROUNDS = 3
const PUSHES = { rate: 200, seconds: 10 }

/** Where systems put a Chromium. */
const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((candidate) => existsSync(candidate))

/**
 * Features that Chromium must not load, as in the tests' `browser.ts`: each new window would load two invisible pages,
 * which take as long as the inspector.
 */
const unwanted = 'WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess,AimEnabled'

/** Records, before any script of the page, when the first row is in the document, and tasks of more than 50 ms. */
const recorder = `
  window.recorded = { rows: null, tasks: [] }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) recorded.tasks.push(duration)
  }).observe({ type: 'longtask', buffered: true })
  const look = new MutationObserver(() => {
    if (document.querySelector('.row') === null) return
    recorded.rows = performance.now()
    look.disconnect()
  })
  look.observe(document, { childList: true, subtree: true })
`

interface Recorded {
  /** Milliseconds from the navigation to the first row. */
  rows: number
  /** Longest task of the page in milliseconds; 0 when none took more than 50. */
  longest: number
  /** Requests of the page per second. */
  requests: number
}

/** The inspector in Chromium, with many deliveries stored, at rest and beside pushes. Empty without a Chromium. */
export async function inspectorFigures(
  directory: (name: string) => string,
  certs: { cert: string; key: string },
): Promise<Figure[]> {
  if (executablePath === undefined) {
    process.stderr.write('inspector is skipped: there is no Chromium.\n')
    return []
  }
  const receiver = await startReceiver(certs, 'answer')
  const service = await startTabwire(directory('inspector'), '--insecure')
  const browser = await chromium.launch({ executablePath, args: [`--disable-features=${unwanted}`] })
  try {
    await storeDeliveries(service.url)
    await register(service.url, receiver.url)
    const rest: Recorded[] = []
    const busy: Recorded[] = []
    const alone: LoadResult[] = []
    const beside: LoadResult[] = []
    let first = 1
    const push = () => run({ url: service.url, checks: 1_000, first: (first += 10_000), ...PUSHES })
    // The first round is the compiler's: it is run and not counted.
    await shown(browser, service.url, () =>
      run({ url: service.url, checks: 1_000, seconds: 2, rate: PUSHES.rate }),
    )
    for (let round = 0; round < ROUNDS; round++) {
      rest.push(await shown(browser, service.url))
      alone.push(await push())
      const pushing = push()
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      busy.push(await shown(browser, service.url, () => pushing))
      beside.push(await pushing)
    }
    const p99 = (results: readonly LoadResult[]) => median(results.map((result) => result.p99))
    return [
      figure('first rows at rest', median(rest.map(({ rows }) => rows)), 'ms', 300),
      figure(`first rows beside ${PUSHES.rate} pushes/s`, median(busy.map(({ rows }) => rows)), 'ms', 300),
      figure('longest task of the page at rest', median(rest.map(({ longest }) => longest)), 'ms', 100),
      figure('longest task of the page beside them', median(busy.map(({ longest }) => longest)), 'ms', 100),
      figure('requests of the page beside them', Math.max(...busy.map(({ requests }) => requests)), '/s', 8),
      figure('p99 of a push without the page', p99(alone), 'ms'),
      figure('p99 of a push beside the page', p99(beside), 'ms'),
      figure(
        'pushes that failed',
        beside.reduce((sum, { failed }) => sum + failed, 0),
        '',
        0,
      ),
    ]
  } finally {
    await browser.close()
    await service.end()
    await receiver.end()
  }
}

function figure(name: string, value: number, unit: string, atMost?: number): Figure {
  return {
    name: `${name} (${DELIVERIES} deliveries)`,
    value,
    unit,
    ...(atMost !== undefined && { target: { atMost } }),
  }
}

/** Opens the inspector with a new link and a cold cache, waits for rows, then for `until`. */
async function shown(browser: Browser, url: string, until?: () => Promise<unknown>): Promise<Recorded> {
  const { code } = await call<{ code: string }>(url, 'POST', '/_sim/inspector-links')
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addInitScript(recorder)
  const page: Page = await context.newPage()
  let requests = 0
  page.on('request', () => requests++)
  const began = performance.now()
  await page.goto(`${url}/#link=${code}`)
  await page.locator('.row').first().waitFor()
  await until?.()
  const seconds = Math.max(1, (performance.now() - began) / 1_000)
  const { rows, tasks } = await page.evaluate<{ rows: number; tasks: number[] }>('recorded')
  await context.close()
  return { rows, longest: Math.max(0, ...tasks), requests: requests / seconds }
}

/** Replaces the records by deliveries of an endpoint that is removed, one of nine dead. */
async function storeDeliveries(url: string): Promise<void> {
  const state = await call<Record<string, unknown>>(url, 'GET', '/_sim/state')
  const started = Date.now() - DELIVERIES * 10
  const at = (number: number) => new Date(started + number * 10).toISOString()
  const events = Array.from({ length: DELIVERIES / PER_EVENT }, (_, number) => {
    const envelope = { id: idOf('evt', number), type: 'check.updated', created_at: at(number * PER_EVENT) }
    const body = JSON.stringify({ ...envelope, data: { external_id: `table-${number}` } })
    return { ...envelope, external_check_id: `table-${number}`, body }
  })
  const deliveries = Array.from({ length: DELIVERIES }, (_, number) => {
    const isDead = number % 9 === 0
    const event = Math.floor(number / PER_EVENT)
    return {
      id: idOf('dlv', number),
      event_id: idOf('evt', event),
      event_type: 'check.updated',
      endpoint_id: idOf('we', 1),
      external_check_id: `table-${event}`,
      status: isDead ? 'dead' : 'delivered',
      attempts: [
        {
          number: 1,
          started_at: at(number),
          duration_ms: 5 + (number % 50),
          outcome: isDead ? 'bad_status' : 'succeeded',
          response_status: isDead ? 500 : 200,
          response_body: null,
          error: null,
        },
      ],
      next_attempt_at: null,
      dead_reason: isDead ? 'endpoint_disabled' : null,
    }
  })
  await call(url, 'PUT', '/_sim/state', JSON.stringify({ ...state, events, deliveries }))
}

function idOf(prefix: string, number: number): string {
  return `${prefix}_${String(number).padStart(26, '0')}`
}

async function call<T>(url: string, method: string, path: string, body?: string): Promise<T> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) })
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}
