import { request } from 'node:http'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { writeOpeningPage } from '../../../src/cli/open-in-browser.ts'
import { barriersInSoak } from '../../support/barriers.ts'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser, openPhone } from '../../support/browser.ts'
import { emptyDirectory } from '../../support/cli.ts'
import { openHttpServer } from '../../support/http-server.ts'
import { startReceiver } from '../../support/https-receiver.ts'
import { check, item, openReceiver, openSimulator, totals } from '../../support/simulator.ts'
import { openInspector, storeDeliveries } from './open-inspector.ts'

/** Options of `expect.poll` for a busy machine. */
const withTimeout = { timeout: 30_000 }

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const tab = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name }).click()
const row = (page: Page, text: string | RegExp) => page.locator('.row', { hasText: text })
const drawer = (page: Page) => page.getByRole('region', { name: 'Details' })
const outcomeShown = (page: Page, text: string | RegExp) =>
  page.locator('.outcome', { hasText: text }).waitFor()

describe.skipIf(!hasBrowser)(`the inspector ${inBrowser}`, () => {
  it('is shown in a browser whose language is no language tag', async () => {
    const page = await openInspector(await openSimulator())
    await page.addInitScript("Object.defineProperty(navigator, 'language', { value: 'C' })")
    await page.reload()
    await page.getByText('No deliveries yet').waitFor({ timeout: 5_000 })
  })

  it('says that a proxy has replaced the Host header', async () => {
    const simulator = await openSimulator()
    const { url } = await openHttpServer((incoming, response) => {
      const { method, url: path = '' } = incoming
      const headers = { ...incoming.headers, host: `127.0.0.1:${simulator.port}` }
      const forwarded = request(simulator.url + path, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      incoming.pipe(forwarded)
    })
    const page = await openPhone(simulator.inspectorLink().replace(simulator.url, url))
    await page.getByText(`The page is at ${url}, but the request has the Host 127.0.0.1`).waitFor()
  })

  it('shows a push, its event, a failing receiver, a clock advance and a resend as they happen', async () => {
    const simulator = await openSimulator()
    const { client, push } = simulator
    const receiver = await openReceiver((response) => response.writeHead(503).end('out of order'))
    await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    const page = await openInspector(simulator)
    await page.evaluate('window.isTheSame = true')
    expect(page.url()).toBe(`${simulator.url}/`)
    await page.getByText('No deliveries yet').waitFor()
    await push('table-12')
    await row(page, /check\.created.*table-12.*retrying.*503/).click()
    await drawer(page).getByText('out of order').waitFor()
    await drawer(page)
      .getByText(/2 of 7, in (1:00|0:\d\d)/)
      .waitFor()
    expect(await barriersInSoak(page)).toEqual([])
    await client.clock.advance('1m')
    await drawer(page).getByText('3 of 7').waitFor()
    receiver.answer(200)
    const [first] = (await client.deliveries.list()).data
    await client.deliveries.resend(first?.id ?? '')
    await row(page, /check\.created.*delivered.*200/).waitFor()
    await page.locator('.sums', { hasText: 'succeeded1' }).waitFor()

    await drawer(page).getByRole('link', { name: 'table-12' }).click()
    await drawer(page).locator('.timeline .push', { hasText: 'created' }).waitFor()
    expect(await drawer(page).locator('.timeline li').count()).toBe(6)
    await drawer(page)
      .locator('.timeline .next')
      .getByRole('button', { name: 'Advance to this time' })
      .click()
    await outcomeShown(page, 'Attempts made: 1.')
    await drawer(page).locator('.timeline .attempt', { hasText: '#3' }).waitFor()
    for (const [name, text] of [
      ['Checks', /table-12.*open/],
      ['Pushes', /table-12.*created.*\+1/],
      ['Events', /check\.created.*evt_/],
      ['Endpoints', /enabled.*healthy/],
      ['Requests', /PUT \/v1\/checks\/external\/table-12.*201.*req_/],
    ] as const) {
      await tab(page, name)
      await row(page, text).waitFor()
    }
    expect(await page.evaluate('window.isTheSame')).toBe(true)
  })

  it('shows what a push changed besides items, and another location’s prices in minor units', async () => {
    const simulator = await openSimulator()
    const { client, key, call, push } = simulator
    await push('a')
    await push('a', { status: 'closed', table: { number: '13' }, totals: totals(1900) })
    const [second] = (await client.locations.list()).data
    await call('PUT /v1/checks/external/b', { json: check(), key: await key(['write'], second?.id) })
    const page = await openInspector(simulator)
    await tab(page, 'Pushes')
    await row(page, /a.*updated.*~1/).click()
    await drawer(page)
      .getByText('table 12 → 13, status open → closed, subtotal $18.50 → $19.00, total $18.50 → $19.00')
      .waitFor()
    await row(page, /b.*created/).click()
    await drawer(page).getByText('1 × A burger, 1850 in minor units').waitFor()
  })

  it('accepts no amount that may mean another one', async () => {
    const simulator = await openSimulator()
    await simulator.push('a')
    const page = await openInspector(simulator)
    await page.goto(`${simulator.url}/?view=checks&open=check/a`)
    const amount = page.getByLabel('Amount', { exact: true })
    for (const [text, isInvalid] of [
      ['1e3', 'true'],
      ['12,5', 'false'],
      ['0x10', 'true'],
      ['2.50', 'false'],
      ['1,000', 'true'],
    ] as const) {
      await amount.fill(text)
      await expect.poll(() => amount.getAttribute('aria-invalid'), withTimeout).toBe(isInvalid)
    }
    await page.getByRole('button', { name: 'Pay', exact: true }).click()
    await page.getByRole('alert').getByText('Enter an amount such as 12.50').waitFor()
  })

  it('offers the commands that change the service as buttons', async () => {
    const simulator = await openSimulator()
    const { client, push } = simulator
    const { url } = await openReceiver()
    const { id } = await client.endpoints.create({ url, event_types: ['check.created'] })
    const items = [item('burger', { name: 'Burger', quantity: 2, price_cents: 1000 })]
    await push('a', { items, totals: totals(2000) })
    const page = await openInspector(simulator, { permissions: ['clipboard-read', 'clipboard-write'] })
    await row(page, 'delivered').click()
    const [sent] = (await client.deliveries.list()).data
    await button(page, 'Copy as curl').click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`curl -gsS -X POST '${url}'`)
    await button(page, 'Copy as tabwire verify').click()
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toContain(`--delivery ${sent?.id}`)
    for (const name of ['Resend', 'Resend verbatim']) {
      await button(page, name).click()
      await outcomeShown(page, name === 'Resend' ? '(new signature)' : '(same signature)')
    }
    expect((await client.deliveries.list()).data).toHaveLength(3)

    await page.goto(`${simulator.url}/?view=endpoints&open=${id}`)
    await button(page, 'Ping').click()
    await outcomeShown(page, 'Ping delivered: 200')

    await page.goto(`${simulator.url}/?view=checks&open=check/a`)
    await page.getByLabel('Name').fill('Mia')
    await button(page, 'Claim 1').click()
    await outcomeShown(page, 'Claimed as clm_')
    await button(page, 'Release').click()
    await outcomeShown(page, 'Claim released')
    await button(page, 'Pay claim').waitFor({ state: 'detached' })
    await button(page, 'Claim 1').click()
    await button(page, 'Pay claim').click()
    await outcomeShown(page, 'Paid as pay_')
    await page.getByLabel('Amount', { exact: true }).fill('2.50')
    await button(page, 'Pay').click()
    await drawer(page).getByText('$7.50').first().waitFor()
    expect((await client.payments.list()).data).toMatchObject([{ amount_cents: 250 }, { amount_cents: 1000 }])
    expect((await client.claims.list()).data).toMatchObject([
      { guest_name: 'Mia', status: 'paid' },
      { status: 'released' },
    ])

    await tab(page, 'Controls')
    await button(page, '+5m').click()
    await outcomeShown(page, 'Attempts made: 0.')
    await button(page, 'Freeze').click()
    await button(page, 'Resume').waitFor()
    expect(await client.clock.show()).toMatchObject({ frozen: true })
    await page.getByRole('combobox', { name: 'Fault' }).selectOption('error')
    await page.getByLabel('Percent').fill('50')
    // A fault that was set elsewhere meanwhile stays.
    await client.faults.set({
      faults: [{ on: 'deliveries', drop: 0.004, times: 1, event_types: ['check.closed'] }],
    })
    await button(page, 'Set fault').click()
    await page.getByText('error 50%, triggered 0 times').waitFor()
    await page.getByText('drop 0.4%, only check.closed, triggered 0 times, 1 left').waitFor()
    expect((await client.faults.show()).faults).toMatchObject([
      { on: 'deliveries', drop: 0.004 },
      { on: 'api', error_rate: 0.5, error_status: 503 },
    ])
    expect(await barriersInSoak(page)).toEqual([])
    await button(page, 'Clear all').click()
    await page.getByText('No faults are set.').waitFor()
    await button(page, 'Reset…').click()
    await button(page, 'Cancel').click()
    expect((await client.checks.list()).data).toHaveLength(1)
    await button(page, 'Reset…').click()
    await button(page, 'Reset data').click()
    await outcomeShown(page, 'Data reset.')
    expect((await client.checks.list()).data).toEqual([])
  })

  it.runIf(isSoak)(
    'shows texts of POS, guests and receivers as text, and loads nothing from them',
    async () => {
      const simulator = await openSimulator()
      const { client, push } = simulator
      const evil = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'`'
      const receiver = await openReceiver((response) => response.writeHead(500).end(evil))
      await client.endpoints.create({
        url: `${receiver.url}${encodeURIComponent(evil)}`,
        event_types: ['check.created', 'feedback.received'],
      })
      const items = [item(evil, { name: evil, note: evil, price_cents: 1000 })]
      await push(evil, { table: { number: evil }, items, totals: totals(900) })
      await client.guests.claim(evil, { guest_name: evil, items: [{ external_id: evil, quantity: 1 }] })
      await client.guests.rate(evil, { guest_name: evil, rating: 1, comment: evil })
      const page = await openInspector(simulator)
      page.on('dialog', () => expect.fail('A text was run.'))
      const opened = [
        ['deliveries', (await client.deliveries.list()).data[0]?.id],
        ['events', (await client.events.list()).data[0]?.id],
        ['pushes', (await client.requests.list()).data[0]?.id],
        ['endpoints', (await client.endpoints.list()).data[0]?.id],
        ['checks', `check/${evil}`],
      ] as const
      for (const [view, open = ''] of opened) {
        const query = new URLSearchParams({ view, open, q: view === 'checks' ? evil : '' })
        await page.goto(`${simulator.url}/?${query.toString()}`)
        await drawer(page).getByText('script').first().waitFor()
        expect(await page.locator('#page :is(script, img, b:has(*))').count()).toBe(0)
      }
      await drawer(page).locator('.claim', { hasText: evil }).waitFor()
    },
  )

  it.runIf(isSoak)('filters pushes by finding, also from the link of a finding', async () => {
    const simulator = await openSimulator()
    await simulator.push('right')
    await simulator.push('wrong', { totals: totals(1) })
    await simulator.push('odd', { status: 'open', ...{ covers: 2 } })
    await simulator.client.faults.set({ faults: [{ on: 'api', times: 1, error_rate: 1 }] })
    await simulator.push('lost')
    const page = await openInspector(simulator)
    const rows = page.locator('.row b')
    const listed = () => rows.allTextContents()
    await tab(page, 'Pushes')
    await expect.poll(listed, withTimeout).toEqual(['lost', 'odd', 'wrong', 'right'])
    await row(page, 'wrong').click()
    // End scrolls the drawer and does not move the focused row.
    const opened = await page.evaluate('location.search')
    await drawer(page).getByRole('region').first().press('End')
    expect(await page.evaluate('location.search')).toBe(opened)
    await drawer(page).getByRole('link', { name: 'totals_mismatch' }).click()
    await drawer(page).waitFor({ state: 'detached' })
    await expect.poll(listed, withTimeout).toEqual(['wrong'])
    expect(page.url()).toBe(`${simulator.url}/?view=pushes&finding=totals_mismatch`)
    await page.getByLabel('Finding').selectOption('any')
    await expect.poll(listed, withTimeout).toEqual(['lost', 'odd', 'wrong'])
    await page.getByLabel('Status').selectOption('true')
    await expect.poll(listed, withTimeout).toEqual(['lost'])
    await row(page, /fault.*no_idempotent_retry/).waitFor()
    // The repeated push resolves the finding.
    await simulator.push('lost')
    await page.getByText('No results').waitFor()
    expect(await barriersInSoak(page)).toEqual([])
  })

  it('renders only a part of many deliveries, and loads them page by page', async () => {
    const simulator = await openSimulator()
    await storeDeliveries(simulator.client, 700)
    const page = await openInspector(simulator)
    const pages: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/_sim/deliveries')
        pages.push(
          `${searchParams.get('limit')} ${searchParams.get('order')}${searchParams.has('cursor') ? ' more' : ''}`,
        )
    })
    const count = (text: string) => page.locator('.count').getByText(text, { exact: true })
    const focused = (number: number) =>
      page.locator(`.row:focus[href$="${String(number).padStart(26, '0')}"]`)
    await count('100+').waitFor()
    await page.keyboard.press('End')
    await focused(0).waitFor()
    await count('oldest 100').waitFor()
    await page.getByText('Showing the oldest deliveries.').waitFor()
    expect(await page.locator('[aria-setsize="-1"]:not([aria-posinset])').count()).toBeGreaterThan(0)
    expect(pages).toContain('100 asc')
    expect(pages.filter((text) => text.endsWith('more'))).toEqual([])
    await expect
      .poll(async () => {
        await page.evaluate("document.querySelector('.scroller').scrollBy(0, -700)")
        return count('oldest 100').isVisible()
      }, withTimeout)
      .toBe(false)
    await page.keyboard.press('k')
    await focused(1).waitFor()
    expect(await barriersInSoak(page)).toEqual([])
    await page.keyboard.press('Home')
    await focused(699).waitFor()
    await page.getByText('Showing the newest deliveries.').waitFor()
    await count('100+').waitFor()
    await page.keyboard.press('j')
    await focused(698).waitFor()
    const before = pages.length
    const rendered = () => page.locator('.slot').count()
    expect(await rendered()).toBeLessThan(60)
    let mostRendered = 0
    await expect
      .poll(async () => {
        await page.evaluate("document.querySelector('.scroller').scrollTo(0, 1e9)")
        mostRendered = Math.max(mostRendered, await rendered())
        return count('700').isVisible()
      }, withTimeout)
      .toBe(true)
    expect(mostRendered).toBeLessThan(60)
    await row(page, 'table-0').first().waitFor()
    expect(new Set(pages.slice(before).filter((text) => text !== '100 null'))).toEqual(
      new Set(['100 null more']),
    )
    expect(pages.length).toBeLessThan(30)
    await page.keyboard.press('End')
    await focused(0).waitFor()
    await page.locator('.slot[data-index="698"]').waitFor()
    expect(pages.slice(before)).not.toContain('100 asc')
    // Rows that are added above do not move the rows in view.
    const first = () => page.locator('.slot').nth(20).getAttribute('data-index')
    const seen = Number(await first())
    await simulator.client.endpoints.create({
      url: (await openReceiver()).url,
      event_types: ['check.created'],
    })
    await simulator.push('new')
    await page.locator('.count', { hasText: '701' }).waitFor()
    await expect.poll(first, withTimeout).toBe(String(seen + 1))
  })

  it.runIf(isSoak)('works by keyboard, keeps its view in the address, and fits a phone', async () => {
    const simulator = await openSimulator()
    const { client, push } = simulator
    for (const id of ['a', 'b', 'c']) await push(id, id === 'b' ? { status: 'closed' } : {})
    const page = await openInspector(simulator, { reducedMotion: 'reduce' })
    await tab(page, 'Checks')
    await row(page, 'a').first().waitFor()
    const at = () => page.locator('.row.at b').textContent()
    for (const [key, id] of [
      ['j', 'c'],
      ['j', 'b'],
      ['j', 'a'],
      ['k', 'b'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(at, withTimeout).toBe(id)
    }
    await page.locator('.row.at:focus').press('Enter')
    await drawer(page).getByRole('heading', { name: 'b' }).waitFor()
    await page.keyboard.press('Escape')
    await drawer(page).waitFor({ state: 'detached' })
    await page.locator('.row:focus').waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await barriersInSoak(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('b')
    await page.getByLabel('Status').selectOption('closed')
    await expect.poll(() => page.url(), withTimeout).toBe(`${simulator.url}/?view=checks&q=b&status=closed`)

    const phone = await openInspector(simulator, {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
    })
    await phone.goto(page.url())
    await expect.poll(() => phone.locator('.row').count(), withTimeout).toBe(1)
    await row(phone, 'b').click()
    await drawer(phone).locator('.timeline .push').waitFor()
    expect(await barriersInSoak(phone)).toEqual([])
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await phone.goBack()
    await drawer(phone).waitFor({ state: 'detached' })
    expect(await barriersInSoak(phone)).toEqual([])
    await client.checks.push('b', JSON.stringify(check({ status: 'closed', table: { number: '99' } })))
    await row(phone, '99').waitFor()
  })

  it('opens through the file that tabwire open writes', async () => {
    const simulator = await openSimulator()
    await simulator.push('table-12')
    const phone = await openPhone(`${simulator.url}/`)
    const directory = await emptyDirectory()
    const page = await writeOpeningPage(simulator.inspectorLink(), directory)
    // A plain page: the test's own context reports requests to other origins, such as a file.
    const other = await phone.context().browser()?.newPage()
    await other?.goto(pathToFileURL(page).href)
    await other?.getByRole('navigation').waitFor()
    expect(other?.url()).toBe(`${simulator.url}/`)
    await other?.goto(`${simulator.url}/?view=checks`)
    await other?.locator('.row', { hasText: 'table-12' }).waitFor()
    await other?.close()
  })

  it('explains how to get a session, and refuses reads and writes of other origins', async () => {
    const simulator = await openSimulator()
    await simulator.push('secret')
    const page = await openInspector(simulator)
    // Another port of the same host is the same site: browsers send the cookie there.
    const elsewhere = await startReceiver({
      answer: (response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<title>elsewhere</title>'),
    })
    onTestFinished(() => elsewhere.close())
    const foreign = await page
      .context()
      .browser()
      ?.newContext({
        storageState: await page.context().storageState(),
      })
    const hostile = await foreign?.newPage()
    await hostile?.goto(elsewhere.url)
    expect(await hostile?.evaluate(tryEverything, simulator.url)).toEqual([])
    // The other server receives the cookie, but cannot use it without the page's secret.
    const [seen] = elsewhere.requests.flatMap(({ headers }) => headers.cookie ?? [])
    expect(seen).toMatch(new RegExp(`^tabwire_session_${simulator.port}=`))
    expect(
      await simulator.call('POST /_sim/reset', { key: null, json: {}, headers: { cookie: seen ?? '' } }),
    ).toMatchObject({
      status: 403,
    })
    await foreign?.close()
    expect(await simulator.client.clock.show()).toMatchObject({ frozen: false })
    expect((await simulator.client.checks.list()).data).toHaveLength(1)
    expect((await simulator.client.keys.list()).data).toHaveLength(1)

    const stranger = await openPhone(`${simulator.url}/?view=checks`)
    await stranger.getByText('tabwire open', { exact: true }).waitFor()
    expect(await stranger.getByText('secret').count()).toBe(0)
    expect(await barriersInSoak(stranger)).toEqual([])
    // In the same tab, a link changes only the hash, and the page begins a session without a reload.
    await stranger.evaluate(`location.href = ${JSON.stringify(simulator.inspectorLink())}`)
    await stranger.locator('.bar').waitFor()
    await page.context().clearCookies()
    await simulator.push('another')
    await page.getByText('tabwire open', { exact: true }).waitFor()
  })
})

/** Tries reads and writes from a hostile page; returns those that were answered. */
async function tryEverything(url: string): Promise<string[]> {
  const got: string[] = []
  const ask = async (method: string, path: string, mode: 'cors' | 'no-cors', body?: string) => {
    const answer = await fetch(url + path, {
      method,
      mode,
      credentials: 'include',
      ...(body !== undefined && { body }),
    })
    if (answer.type !== 'opaque') got.push(`${method} ${path}: ${await answer.text()}`)
  }
  const tries: Promise<unknown>[] = []
  for (const path of ['/_sim/deliveries', '/_sim/state', '/_sim/session', '/v1/checks'])
    for (const mode of ['cors', 'no-cors'] as const) tries.push(ask('GET', path, mode).catch(() => undefined))
  for (const path of ['/_sim/reset', '/_sim/clock', '/_sim/keys', '/_sim/session', '/_sim/inspector-links'])
    for (const mode of ['cors', 'no-cors'] as const)
      tries.push(ask('POST', path, mode, '{"freeze":true}').catch(() => undefined))
  await Promise.all([...tries, fetch('/_sim/deliveries')])
  return got
}
