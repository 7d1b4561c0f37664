import { execFile } from 'node:child_process'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser } from '../../support/browser.ts'
import { bin, emptyDirectory } from '../../support/cli.ts'
import { deadUrl, openReceiver, openSimulator } from '../../support/simulator.ts'
import { barriersAtAllSizes, openInspector } from './open-inspector.ts'
const withTimeout = { timeout: 30_000 }
const event_types = ['check.created' as const]
const copying = { permissions: ['clipboard-read', 'clipboard-write'] }
const drawer = (page: Page) => page.getByRole('region', { name: 'Details' })
const button = (page: Page, name: string) => drawer(page).getByRole('button', { name, exact: true })
const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

describe.skipIf(!hasBrowser)(`a delivery in the inspector ${inBrowser}`, () => {
  it('shows request and response of each attempt unchanged, and collapses equal attempts', async () => {
    const simulator = await openSimulator()
    const { client } = simulator
    const receiver = await openReceiver((response, _received, index) => {
      if (index === 2) return void response.writeHead(500).end('no JSON')
      const headers = { 'Content-Type': 'application/json', 'Set-Cookie': ['a=1', 'b=<i>2</i>'] }
      response.writeHead(503, headers).end('{"retry":true}')
    })
    await client.endpoints.create({ url: `${receiver.url}hooks`, event_types })
    await simulator.push('table-12')
    await simulator.idle()
    await client.clock.advance('40m')
    const received = await receiver.received(4)
    const page = await openInspector(simulator, copying)
    await page.locator('.row', { hasText: 'table-12' }).click()
    await drawer(page).getByText('Request of attempt 4').waitFor()
    const lines = drawer(page).locator('.attempts > li')
    expect(await lines.count()).toBe(3)
    await lines.last().getByText('2 times the same').click()
    await button(page, 'Show request and response of attempt 1').click()
    await drawer(page).getByText('Request of attempt 1').waitFor()
    await button(page, 'Show request and response of attempt 3').click()
    await drawer(page).getByText('no JSON', { exact: true }).waitFor()
    await button(page, 'Show request and response of attempt 4').click()
    await drawer(page).getByText('Request of attempt 4').waitFor()
    await drawer(page).getByText(`POST ${receiver.url}hooks`).waitFor()
    await button(page, 'Copy response headers').click()
    const [attempt] = (await client.deliveries.list()).data[0]?.attempts.slice(3) ?? []
    const answered = attempt?.response_headers?.map(({ name, value }) => `${name}: ${value}`) ?? []
    expect(answered.slice(0, 3)).toEqual([
      'Content-Type: application/json',
      'Set-Cookie: a=1',
      'Set-Cookie: b=<i>2</i>',
    ])
    await expect.poll(() => clipboard(page), withTimeout).toBe(answered.join('\n'))
    const response = drawer(page).locator('section', { hasText: 'Response to attempt 4' })
    expect(await response.locator('.headers dt').allTextContents()).toEqual(
      answered.map((line) => line.replace(/:.*/s, '')),
    )
    expect(await response.locator('.headers dd').nth(2).innerText()).toBe('b=<i>2</i>')
    await button(page, 'Copy request headers').click()
    const sent = async () => {
      const copied = (await clipboard(page)).split('\n').map((line) => line.split(': ', 2))
      return Object.fromEntries(copied.map(([name = '', value]) => [name.toLowerCase(), value])) as object
    }
    await expect.poll(sent, withTimeout).toEqual(received[3]?.headers)
    const [t, v1] = String(received[3]?.headers['x-service-signature'])
      .split(/t=|,v1=/)
      .slice(1)
    const parts = drawer(page).locator('.signature dd')
    expect(await parts.allTextContents()).toEqual([
      expect.stringMatching(new RegExp(`^${t}Time of the signature in Unix seconds: 20.* UTC$`)),
      `${v1}HMAC-SHA256 in hex of t.body with the signing secret of the endpoint`,
    ])
    await button(page, 'Copy request body').click()
    await expect.poll(() => clipboard(page), withTimeout).toBe(received[3]?.body.toString())
    const body = drawer(page).getByRole('region', { name: 'Request body' })
    await body.getByText('"external_id": "table-12"').waitFor()
    await button(page, 'Fold all').last().click()
    await expect.poll(() => body.innerText(), withTimeout).toMatch(/^\W*\{ 4 fields \}\s*$/)
    await body.locator('summary').first().press('Enter')
    await body.getByText('"type": "check.created"').waitFor()
    expect(await barriersAtAllSizes(page)).toEqual([])
  })

  it.runIf(isSoak)('says when response headers are cut, absent or not stored', async () => {
    const simulator = await openSimulator()
    const { client } = simulator
    const receiver = await openReceiver((response) => {
      response.writeHead(204, { [`X-${'n'.repeat(200)}`]: '1', 'X-Long': 'v'.repeat(5_000) }).end()
    })
    await client.endpoints.create({ url: receiver.url, event_types })
    await simulator.push('table-12')
    await simulator.idle()
    const page = await openInspector(simulator)
    const open = () => page.locator('.row', { hasText: 'table-12' }).click()
    await open()
    await drawer(page)
      .getByText('The headers are cut. Only the first 100 headers and 4 KiB are stored.')
      .waitFor()
    await drawer(page).getByText('The body is empty.').waitFor()
    expect(await drawer(page).locator('.headers dd', { hasText: 'vvv' }).innerText()).toMatch(
      /^v{3000,4096}$/,
    )
    expect(await barriersAtAllSizes(page)).toEqual([])
    const state = await client.state.get()
    const shown = async (headers: { response_headers?: [] }, text: string) => {
      const deliveries = state.deliveries.map((delivery) => ({
        ...delivery,
        attempts: delivery.attempts.map(
          ({ response_headers: _headers, response_headers_cut: _cut, ...attempt }) => ({
            ...attempt,
            ...headers,
          }),
        ),
      }))
      await client.state.put({ ...state, deliveries })
      await page.reload()
      await drawer(page).getByText(text, { exact: true }).waitFor()
      expect(await barriersAtAllSizes(page)).toEqual([])
    }
    await shown({ response_headers: [] }, 'The response has no headers.')
    await shown({}, 'The headers are not stored, because an early version made this attempt.')
  })

  it.runIf(isSoak)('copies a tabwire verify command that works, without the secret', async () => {
    const simulator = await openSimulator()
    const receiver = await openReceiver()
    const { signing_secret } = await simulator.client.endpoints.create({ url: receiver.url, event_types })
    await simulator.push('table-12')
    await simulator.idle()
    const page = await openInspector(simulator, copying)
    await page.locator('.row', { hasText: 'delivered' }).click()
    await button(page, 'Copy as tabwire verify').click()
    await expect.poll(() => clipboard(page), withTimeout).toMatch(/^tabwire verify .*--delivery dlv_/)
    const command = await clipboard(page)
    expect(command).not.toContain(signing_secret)
    const cwd = await emptyDirectory()
    const { url: TABWIRE_URL, apiKey: TABWIRE_API_KEY } = simulator
    const run = (WEBHOOK_SECRET: string) =>
      new Promise((resolve) => {
        const env = { ...process.env, WEBHOOK_SECRET, TABWIRE_URL, TABWIRE_API_KEY }
        const script = `tabwire() { node "${bin}" "$@"; }\n${command}`
        execFile('/bin/sh', ['-c', script], { cwd, env }, (error, stdout) =>
          resolve(`${error?.code ?? 0} ${stdout}`),
        )
      })
    expect(await run(signing_secret)).toMatch(/^0 .*valid/i)
    expect(await run(`whsec_${'A'.repeat(43)}`)).toMatch(/^3 /)
  })

  /** Two dead deliveries of an endpoint that is disabled, and a pending one; the one of `untried` was never attempted. */
  async function withDisabledEndpoint() {
    const simulator = await openSimulator({ disableAfter: 2 })
    const { client } = simulator
    const { id } = await client.endpoints.create({ url: deadUrl, event_types })
    await simulator.push('tried')
    await simulator.idle()
    await client.faults.set({ faults: [{ on: 'deliveries', delay: 1, delay_ms: 3_600_000, times: 1 }] })
    await simulator.push('untried')
    await simulator.idle()
    await simulator.push('last')
    await simulator.idle()
    const page = await openInspector(simulator)
    return { simulator, client, id, page }
  }

  it.runIf(isSoak)(
    'says why a resend is impossible, and registers the URL again with a secret that is shown once',
    async () => {
      const { client, page } = await withDisabledEndpoint()
      await page.locator('.row', { hasText: 'untried' }).click()
      await drawer(page).getByText('never attempted. Its endpoint was disabled').waitFor()
      const resend = button(page, 'Resend')
      await expect.poll(() => resend.getAttribute('aria-disabled'), withTimeout).toBe('true')
      const reason = drawer(page).locator(`#${await resend.getAttribute('aria-describedby')}`)
      await reason.getByText('the endpoint is disabled (2 consecutive deliveries failed)').waitFor()
      await resend.click({ force: true })
      await page.keyboard.press('r')
      await button(page, 'Resend verbatim').click({ force: true })
      expect((await client.deliveries.list()).data).toHaveLength(3)
      expect(await barriersAtAllSizes(page)).toEqual([])
      await button(page, 'Register again').click()
      const dialog = page.getByRole('dialog', { name: 'Endpoint registered' })
      const secret = await dialog.locator('code').innerText()
      expect(secret).toMatch(/^whsec_[\w-]{43}$/)
      expect(await barriersAtAllSizes(page)).toEqual([])
      const registered = (await client.endpoints.list()).data
      expect(registered).toMatchObject([
        { url: deadUrl, event_types, status: 'enabled' },
        { status: 'disabled' },
      ])
      await dialog.getByRole('button', { name: 'Done' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await page.getByText(secret).count()).toBe(0)
    },
  )

  it.runIf(isSoak)('keeps the URL of an endpoint that was removed', async () => {
    const { client, id, page } = await withDisabledEndpoint()
    await client.endpoints.delete(id)
    await page.reload()
    await expect.poll(() => page.locator('.row', { hasText: '127.0.0.1:1/' }).count(), withTimeout).toBe(3)
    await page.locator('.row', { hasText: 'untried' }).click()
    await drawer(page).getByText(`${deadUrl} (removed)`).waitFor()
    await drawer(page).getByText('never attempted. Its endpoint was removed').waitFor()
    await drawer(page).getByText('Cannot resend: the endpoint was removed.').waitFor()
    expect(await barriersAtAllSizes(page)).toEqual([])
  })
})
