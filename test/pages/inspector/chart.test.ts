import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { barriersInSoak } from '../../support/barriers.ts'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser } from '../../support/browser.ts'
import { openReceiver, openSimulator } from '../../support/simulator.ts'
import { openInspector, storeDeliveries } from './open-inspector.ts'

const filtersOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

/** The plotted area of the attempts. */
async function areaOf(page: Page) {
  const box = await page.locator('.plot').first().locator('.u-over').boundingBox()
  if (box === null) throw new Error('The chart is not shown.')
  return box
}

describe.skipIf(!hasBrowser)(`the chart of deliveries ${inBrowser}`, () => {
  it.runIf(isSoak)('counts the attempts of all stored deliveries', async () => {
    const simulator = await openSimulator()
    await storeDeliveries(simulator.client, 4_500)
    const page = await openInspector(simulator)
    await page.getByText('Attempts of 4,500 deliveries').waitFor()
    expect(await page.locator('.sums .succeeded dd').textContent()).toBe('4,000')
    expect(await page.locator('.sums .dead dd').textContent()).toBe('500')
    // A text that is cut has the whole of it as tooltip.
    const endpoint = page.locator('.row').first().locator('.cell').last()
    await page.setViewportSize({ width: 1024, height: 800 })
    await endpoint.hover()
    expect(await endpoint.getAttribute('title')).toBe(await endpoint.textContent())
  })

  it.runIf(isSoak)('keeps its scroll position while deliveries arrive', async () => {
    const simulator = await openSimulator()
    const { client, push, idle } = simulator
    const { url } = await openReceiver([200, 500, 200])
    await client.endpoints.create({ url, event_types: ['check.created'] })
    await client.clock.freeze(true)
    await push('first')
    await idle()
    const page = await openInspector(simulator)
    await page.locator('.sums .succeeded dd', { hasText: '1' }).waitFor()
    await page.locator('.u-over').nth(1).waitFor()
    const places = () =>
      page.evaluate(
        `[...document.querySelectorAll('.chart, .plot, .u-over, .filters')].map((one) => JSON.stringify(one.getBoundingClientRect()))`,
      )
    const before = await places()
    for (let number = 0; number < 30; number += 1) await push(`table-${number}`)
    await idle()
    await page.getByText('Attempts of 31 deliveries').waitFor()
    expect(await places()).toEqual(before)
    // A filter that matches nothing does not hide the chart.
    await page.getByLabel('Event').selectOption('ping')
    await page.getByText('Attempts of 0 deliveries').waitFor()
    expect(await places()).toEqual(before)
  })

  it('describes a bar for pointer and keyboard, and filters by its time', async () => {
    const simulator = await openSimulator({ startAt: new Date('2026-11-21T23:00:00Z') })
    const { client, push, idle } = simulator
    const { url } = await openReceiver(500)
    await client.endpoints.create({ url, event_types: ['check.created'] })
    await push('a')
    await idle()
    await client.clock.advance('3h')
    const page = await openInspector(simulator)
    // The list is not tested here.
    await page.route('**/_sim/deliveries?*from=*', (route) =>
      route.fulfill({ json: { data: [], next_cursor: null } }),
    )
    await page.getByText('Attempts of 1 delivery').waitFor()
    const area = await areaOf(page)
    const at = (part: number) => [area.x + area.width * part, area.y + area.height / 2] as const
    await page.mouse.move(...at(0.01))
    const tooltip = page.locator('.tooltip')
    await tooltip.getByText('11-21 23:00:00 to 23:05:00 UTC').waitFor()
    await tooltip.getByText('0 succeeded, 2 failed, 0 dead').waitFor()
    await page.mouse.move(0, 0)
    await tooltip.waitFor({ state: 'detached' })

    const slider = page.getByRole('slider')
    await slider.focus()
    await slider.press('Home')
    await tooltip.getByText('11-21 23:00:00 to 23:05:00 UTC').waitFor()
    await slider.press('Shift+ArrowRight')
    expect(await slider.getAttribute('aria-valuetext')).toBe(
      '11-21 23:00:00 to 23:10:00 UTC, 0 succeeded, 3 failed, 0 dead',
    )
    expect(await barriersInSoak(page)).toEqual([])
    await slider.press('Enter')
    await expect
      .poll(() => filtersOf(page))
      .toEqual({
        view: 'deliveries',
        from: '2026-11-21T23:00:00.000Z',
        to: '2026-11-21T23:10:00.000Z',
      })
    await page.locator('.sums .failed dd', { hasText: '3' }).waitFor()
    await page.getByRole('button', { name: 'Show all times' }).click()
    await page.locator('.sums .failed dd', { hasText: '5' }).waitFor()

    await page.mouse.move(...at(0.5))
    await page.mouse.down()
    await page.mouse.move(...at(0.9), { steps: 4 })
    await page.mouse.up()
    await page.getByRole('button', { name: 'Show all times' }).waitFor()
    const { from = '', to = '' } = filtersOf(page)
    expect([Date.parse(from) % 300_000, Date.parse(to) % 300_000]).toEqual([0, 0])
    expect(Date.parse(to)).toBeGreaterThan(Date.parse(from))
  })
})
