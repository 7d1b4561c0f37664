import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished, test } from 'vitest'
import { hasBrowser, openPhone } from '../support/browser.ts'
import { openSimulator } from '../support/simulator.ts'
import { createStates, show, widths } from '../pages/inspector/all-states.ts'
import { createSampleData } from './sample-data.ts'

/** True under `npm run screenshots`; `npm test` leaves the pictures as they are. */
const isWanted = process.env.npm_lifecycle_event === 'screenshots'

/** Sizes that keep each picture below 150 kB, for the README. */
const wide = { viewport: { width: 1180, height: 600 } }
const phone = { viewport: { width: 360, height: 740 } }

/** The pictures of all states, which are looked at and not kept. */
const all = fileURLToPath(new URL('../../node_modules/.cache/tabwire-screenshots/', import.meta.url))

async function shoot(page: Page, name: string): Promise<void> {
  const path = fileURLToPath(new URL(`inspector-${name}.png`, import.meta.url))
  // The chart is drawn shortly after its data is loaded.
  await page.waitForLoadState('load')
  await page.waitForTimeout(1_500)
  await page.screenshot({ path })
}

test.skipIf(!isWanted || !hasBrowser)(
  'takes screenshots of the inspector with and without data',
  async () => {
    const options = { allowHttpLoopback: true, startAt: new Date('2026-11-21T18:00:00Z') }
    const empty = await openSimulator(options)
    const busy = await openSimulator(options)
    const receivers = await createSampleData(busy.client, busy.idle)
    onTestFinished(async () => {
      await Promise.all(receivers.map((receiver) => receiver.close()))
    })
    const openAt = async (simulator: typeof busy, address: string, how: BrowserContextOptions) => {
      const page = await openPhone(simulator.inspectorLink(), how)
      await page.getByRole('navigation').waitFor()
      await page.goto(simulator.url + address)
      return page
    }
    const [retrying] = (await busy.client.deliveries.list({ status: 'pending' })).data
    const check = retrying?.external_check_id ?? ''
    const timeline = `/?view=deliveries&open=${encodeURIComponent(`check/${check}`)}`
    await shoot(await openAt(busy, '/?view=deliveries', wide), 'light')
    await shoot(await openAt(busy, timeline, { ...wide, colorScheme: 'dark' }), 'dark')
    await shoot(await openAt(busy, `/?view=deliveries&open=${retrying?.id}`, wide), 'delivery')
    await shoot(await openAt(busy, '/?view=deliveries', phone), 'phone')
    await shoot(await openAt(busy, timeline, { ...phone, colorScheme: 'dark' }), 'phone-timeline')
    await shoot(await openAt(empty, '/?view=deliveries', wide), 'empty')
    await shoot(await openPhone(`${empty.url}/`, wide), 'locked')
  },
)

test.skipIf(!isWanted || !hasBrowser)(
  'takes screenshots of all states at all widths',
  { timeout: 300_000 },
  async () => {
    const simulator = await openSimulator({ startAt: new Date('2026-11-21T18:00:00Z') })
    const empty = await openSimulator()
    const states = await createStates(simulator)
    const shootAll = async (page: Page, name: string) => {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          // The chart is drawn shortly after its data is loaded.
          await page.waitForTimeout(200)
          await page.screenshot({ path: `${all}${name}-${width}-${colorScheme}.png` })
        }
      }
      await page.emulateMedia({ colorScheme: 'light', media: 'print' })
      await page.screenshot({ path: `${all}${name}-print.png`, fullPage: true })
      await page.emulateMedia({ media: 'screen' })
    }
    const page = await openPhone(simulator.inspectorLink())
    await page.getByRole('navigation').waitFor()
    for (const state of states) {
      await show(page, state)
      await shootAll(page, state.name)
      await state.leave?.(page)
    }
    const fresh = await openPhone(empty.inspectorLink())
    await fresh.getByText('No deliveries yet').waitFor()
    await shootAll(fresh, 'empty')
    await shootAll(await openPhone(`${empty.url}/`), 'locked')
  },
)
