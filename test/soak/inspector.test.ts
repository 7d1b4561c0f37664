import { expect, test } from 'vitest'
import { openInspector, storeDeliveries } from '../pages/inspector/open-inspector.ts'
import { hasBrowser } from '../support/browser.ts'
import { openSimulator } from '../support/simulator.ts'
import { isSoak } from './seeded.ts'

const DELIVERIES = 100_000
const SECONDS = 5

/** Scrolls steadily. Returns the duration of each frame. */
const scroll = `new Promise((resolve) => {
  const scroller = document.querySelector('.scroller')
  const frames = []
  const began = performance.now()
  let last = began
  const step = (now) => {
    frames.push(now - last)
    last = now
    scroller.scrollTop += 60
    if (now - began < ${SECONDS * 1_000}) requestAnimationFrame(step)
    else resolve(frames.slice(1).sort((one, other) => one - other))
  }
  requestAnimationFrame(step)
})`

test.skipIf(!isSoak || !hasBrowser)(
  'the inspector loads with 100,000 deliveries and scrolls through them',
  async () => {
    const simulator = await openSimulator()
    await storeDeliveries(simulator.client, DELIVERIES)
    const page = await openInspector(simulator)
    await page.goto(`${simulator.url}/?view=deliveries`)
    await page.locator('.row').first().waitFor()
    const shown = await page.evaluate<number>('performance.now()')
    const frames = await page.evaluate<number[]>(scroll)
    const rows = await page.locator('.count').textContent()
    const began = performance.now()
    await page.getByLabel('Search').fill('bad_status')
    await page.waitForResponse((response) => response.url().includes('q=bad_status'))
    const searched = performance.now() - began
    const at = (part: number) => frames[Math.floor(frames.length * part)]?.toFixed(1)
    process.stderr.write(
      `soak: ${DELIVERIES} deliveries, first rows after ${Math.round(shown)} ms, ${frames.length} frames in ${SECONDS} s (median ${at(0.5)} ms, p95 ${at(0.95)} ms, slowest ${at(0.9999)} ms), ${rows} rows loaded, search answered after ${Math.round(searched)} ms\n`,
    )
    expect(await page.locator('.slot').count()).toBeLessThan(60)
  },
  600_000,
)
