import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Client } from '../../../src/client.ts'
import type { Delivery } from '../../../src/model/delivery.ts'
import type { StoredEvent } from '../../../src/model/event.ts'
import { newBarriers } from '../../support/barriers.ts'
import { openPhone } from '../../support/browser.ts'

/** Opens the inspector with a session in a new browser context. */
export async function openInspector(
  { inspectorLink }: { inspectorLink: () => string },
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await openPhone(inspectorLink(), { viewport: { width: 1280, height: 800 }, ...options })
  await page.getByRole('navigation').waitFor()
  return page
}

/** Stores deliveries in a service, a hundred per event, oldest first. */
export async function storeDeliveries(client: Client, count: number): Promise<void> {
  const state = await client.state.get()
  const { now } = await client.clock.show()
  const started = Date.parse(now) - count * 10
  const at = (number: number) => new Date(started + number * 10).toISOString()
  const events = Array.from({ length: Math.ceil(count / 100) }, (_, number): StoredEvent => {
    const id = idOf('evt', number)
    const envelope = { id, type: 'check.updated' as const, created_at: at(number * 100) }
    const body = JSON.stringify({ ...envelope, data: { external_id: `table-${number}` } })
    return { ...envelope, external_check_id: `table-${number}`, body }
  })
  const deliveries = Array.from({ length: count }, (_, number): Delivery => {
    const event = Math.floor(number / 100)
    const outcome = number % 9 === 0 ? 'bad_status' : 'succeeded'
    return {
      id: idOf('dlv', number),
      event_id: idOf('evt', event),
      event_type: 'check.updated',
      endpoint_id: idOf('we', 1),
      external_check_id: `table-${event}`,
      status: outcome === 'succeeded' ? 'delivered' : 'dead',
      attempts: [
        {
          number: 1,
          started_at: at(number),
          duration_ms: 5 + (number % 50),
          outcome,
          response_status: outcome === 'succeeded' ? 200 : 500,
          response_body: null,
          error: null,
        },
      ],
      next_attempt_at: null,
      dead_reason: outcome === 'succeeded' ? null : 'endpoint_disabled',
    }
  })
  await client.state.put(JSON.stringify({ ...state, events, deliveries }))
}

function idOf(prefix: string, number: number): string {
  return `${prefix}_${String(number).padStart(26, '0')}`
}

/** Returns what axe finds in what the page shows for the first time, in light and dark, at the narrowest and the widest size. */
export async function barriersAtAllSizes(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const width of [360, 1440])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      found.push(...(await newBarriers(page)))
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
  return found
}
