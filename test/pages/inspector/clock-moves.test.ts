import type { ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { barriersInSoak } from '../../support/barriers.ts'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser } from '../../support/browser.ts'
import { startReceiver } from '../../support/https-receiver.ts'
import { openReceiver, openSimulator } from '../../support/simulator.ts'
import { openInspector } from './open-inspector.ts'

/** Clicks a button without pauses: each click comes before the previous move has ended. */
async function clickBriskly(page: Page, name: string, times: number): Promise<void> {
  await page.evaluate(`{
    const button = [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === '${name}')
    for (let click = 0; click < ${times}; click += 1) button.click()
  }`)
}

describe.skipIf(!hasBrowser)(`moves of the clock ${inBrowser}`, () => {
  it('run one after another, and 12 fast clicks ask for no time in the past', async () => {
    const simulator = await openSimulator()
    const { client, push, idle } = simulator
    const { url } = await openReceiver(500)
    await client.endpoints.create({ url, event_types: ['check.created'] })
    await push('a')
    await idle()
    const page = await openInspector(simulator)
    await page.goto(`${simulator.url}/?view=controls`)
    const moves: { status: number; body: unknown }[] = []
    page.on('response', (response) => {
      const request = response.request()
      if (request.method() === 'POST' && request.url().endsWith('/_sim/clock'))
        moves.push({ status: response.status(), body: request.postDataJSON() as unknown })
    })
    const next = page.getByRole('button', { name: 'Advance to next attempt', exact: true })
    await next.waitFor()
    await clickBriskly(page, 'Advance to next attempt', 12)
    await page.locator('.outcome').getByText('No attempts are scheduled.').waitFor({ timeout: 30_000 })
    await page.locator('.playing').waitFor({ state: 'detached' })
    expect(moves.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect(moves.filter(({ body }) => !Object.hasOwn(body as object, 'advance'))).toEqual([])
    for (const delivery of (await client.deliveries.list()).data)
      expect(delivery).toMatchObject({ status: 'dead', attempts: { length: 7 } })
  })

  it.runIf(isSoak)('of an outdated button advance to the next attempt of its delivery', async () => {
    const simulator = await openSimulator()
    const { client, push, idle } = simulator
    const { url } = await openReceiver(500)
    await client.endpoints.create({ url, event_types: ['check.created'] })
    await push('a')
    await idle()
    const [delivery] = (await client.deliveries.list()).data
    const page = await openInspector(simulator)
    await page.goto(`${simulator.url}/?view=deliveries&open=${delivery?.id}`)
    const button = page.getByRole('button', { name: 'Advance clock to next attempt' })
    await button.waitFor()
    await clickBriskly(page, 'Advance clock to next attempt', 3)
    await expect
      .poll(async () => (await client.deliveries.get(delivery?.id ?? '')).attempts.length, {
        timeout: 30_000,
      })
      .toBe(4)
    await page.locator('.playing').waitFor({ state: 'detached' })
    expect(await page.locator('.outcome.bad').count()).toBe(0)
  })

  it.runIf(isSoak)('show the attempts that they wait for, and can be stopped', async () => {
    const simulator = await openSimulator({ allowHttpLoopback: true })
    const { client, push, idle } = simulator
    const held: ServerResponse[] = []
    const receiver = await startReceiver({
      answer: (response, _received, index) =>
        index === 0 ? void response.writeHead(503).end() : void held.push(response),
    })
    onTestFinished(() => receiver.close())
    await client.endpoints.create({ url: `${receiver.url}hangs`, event_types: ['check.created'] })
    await push('a')
    await idle()
    const page = await openInspector(simulator)
    await page.getByRole('navigation').getByRole('link', { name: 'Controls' }).click()
    await page.getByText('attempt 2 of 7').waitFor()
    await page.getByRole('button', { name: '+36h' }).click()
    const playing = page.locator('.playing')
    await playing
      .getByText(new RegExp(`Playing… waiting for 127\\.0\\.0\\.1:${receiver.port}/hangs, [1-9] s`))
      .waitFor()
    expect(await barriersInSoak(page)).toEqual([])
    // The released attempt fails, so the clock goes on to the next one, which hangs as well.
    await receiver.received(2)
    held[0]?.writeHead(503).end()
    await receiver.received(3)
    await page.getByText('attempt 3 of 7').waitFor()
    await playing.getByRole('button', { name: 'Stop' }).click()
    await page.locator('.outcome.good').getByText('Clock stopped at').waitFor()
    await playing.waitFor({ state: 'detached' })
    expect(await client.clock.show()).toMatchObject({ moving: null })
    held[1]?.writeHead(200).end()
    await page.getByText('No attempts are scheduled.').waitFor()
  })

  it('go on after a stop whose time cannot be read', async () => {
    const simulator = await openSimulator()
    const { client, push } = simulator
    const receiver = await openReceiver('hang')
    await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await push('a')
    const page = await openInspector(simulator)
    await page.goto(`${simulator.url}/?view=controls`)
    await page.getByRole('button', { name: '+36h' }).click()
    const playing = page.locator('.playing')
    const stop = playing.getByRole('button', { name: 'Stop' })
    await stop.waitFor()
    await page.route('**/_sim/clock', (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'conflict', message: 'No time.' } } }),
    )
    await stop.click()
    await page.locator('.outcome').getByText('No time.').waitFor()
    // The page may have read the clock during the move: it shows the move until it reads the clock again.
    await page.unroute('**/_sim/clock')
    await playing.waitFor({ state: 'detached' })
    receiver.answer(200)
    await page.getByRole('button', { name: '+5m' }).click()
    await page.locator('.outcome').getByText('Clock moved to').waitFor({ timeout: 30_000 })
  })

  it('run a schedule of 35 hours until the delivery is dead, with three clicks', async () => {
    const simulator = await openSimulator()
    const { client, push, idle } = simulator
    const { url } = await openReceiver(500)
    await client.endpoints.create({ url, event_types: ['check.created'] })
    await push('a')
    await idle()
    const page = await openInspector(simulator)
    let clicks = 0
    const click = async (role: 'link' | 'button', name: string) => {
      clicks += 1
      await page.getByRole(role, { name, exact: true }).click()
    }
    await click('link', 'Controls')
    await click('button', '+36h')
    await page.locator('.outcome').getByText('Attempts made: 6.').waitFor()
    await click('link', 'Deliveries')
    await page.locator('.row', { hasText: 'dead' }).waitFor()
    expect(clicks).toBeLessThanOrEqual(3)
  })
})
