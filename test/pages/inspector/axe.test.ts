import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newBarriers } from '../../support/barriers.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser, openPhone } from '../../support/browser.ts'
import { openSimulator } from '../../support/simulator.ts'
import { createStates, show, widths } from './all-states.ts'
import { openInspector } from './open-inspector.ts'

/** Returns what a page cuts: text without an ellipsis or a title, and what lies beside the page. */
const cutOff = `(async () => {
  // The tabs move into view after the layout.
  for (let frame = 0; frame < 3; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
  const found = []
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways')
  for (const element of document.querySelectorAll('#page *, dialog *')) {
    const style = getComputedStyle(element)
    const { left, right, width } = element.getBoundingClientRect()
    if (width <= 1 || style.visibility === 'hidden' || !element.checkVisibility()) continue
    const scrolls = element.closest('.bar nav, pre, .u-wrap, .spoken, .cell') !== null
    const name = element.tagName + '.' + String(element.className) + ' ' + element.textContent.slice(0, 40)
    if (!scrolls && (left < -1 || right > innerWidth + 1)) found.push('beside the page: ' + name)
    const isCut = element.scrollWidth > element.clientWidth + 1 && style.overflowX === 'hidden'
    if (isCut && element.closest('.spoken') === null && style.textOverflow !== 'ellipsis') found.push('cut: ' + name)
  }
  const tab = document.querySelector('.bar [aria-current]')?.getBoundingClientRect()
  const tabs = document.querySelector('.bar nav')?.getBoundingClientRect()
  if (tab?.left < tabs?.left - 1 || tab?.right > tabs?.right + 1) found.push('the current tab is not in view')
  return found
})()`

/** Colour schemes in which axe judges a width. Outside the soak, only the narrowest is judged, in dark. */
const schemesAt = (width: number): readonly ('dark' | 'light')[] =>
  isSoak ? ['dark', 'light'] : width === 360 ? ['dark'] : []

/** Returns the problems of a state at all widths, light and dark. */
async function problemsOf(page: Page, name: string): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for (const width of sampled(widths, 4)) {
    await page.setViewportSize({ width, height: 900 })
    const problems = await page.evaluate<string[]>(cutOff)
    for (const colorScheme of schemesAt(width)) {
      await page.emulateMedia({ colorScheme })
      problems.push(...(await newBarriers(page)))
    }
    if (problems.length > 0) found[`${name} at ${width}`] = problems
  }
  return found
}

describe.skipIf(!hasBrowser)(`every state of the inspector ${inBrowser}`, () => {
  it(
    'has no accessibility barrier and no cut text, in light and dark, at five widths',
    { timeout: 240_000 },
    async () => {
      const simulator = await openSimulator()
      const states = await createStates(simulator)
      const page = await openInspector(simulator)
      let found: Record<string, readonly string[]> = {}
      for (const state of sampled(states, 3)) {
        await show(page, state)
        found = { ...found, ...(await problemsOf(page, state.name)) }
        await state.leave?.(page)
      }
      expect(found).toEqual({})
    },
  )

  it.runIf(isSoak)('has no accessibility barrier without a session', async () => {
    const simulator = await openSimulator()
    const page = await openPhone(`${simulator.url}/`)
    await page.getByText('Open the inspector with a one-time link').waitFor()
    expect(await problemsOf(page, 'locked')).toEqual({})
    await page.goto(`${simulator.url}/#link=0000`)
    await page.getByText('This link was used before, has expired').waitFor()
  })

  it(
    'has no accessibility barrier without records, or after the service has stopped',
    { timeout: 120_000 },
    async () => {
      const simulator = await openSimulator()
      const page = await openInspector(simulator)
      await page.getByRole('button', { name: 'Register endpoint' }).waitFor()
      expect(await problemsOf(page, 'empty')).toEqual({})
      await simulator.close()
      const banner = page.locator('.gone')
      await banner.getByText('The service does not respond.').waitFor()
      await banner.getByText('tabwire start --open').waitFor()
      // Each tab reads from the service, and none adds a message of its own.
      for (const name of ['Checks', 'Endpoints', 'Controls', 'Deliveries'])
        await page.getByRole('navigation').getByRole('link', { name }).click()
      expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(1)
      expect(await page.locator('.notice').filter({ visible: true }).count()).toBe(0)
      expect(await problemsOf(page, 'stopped')).toEqual({})
    },
  )

  it('prints the open record on white, without controls', async () => {
    const simulator = await openSimulator()
    const [, delivery] = await createStates(simulator)
    const page = await openInspector(simulator, { colorScheme: 'dark' })
    if (delivery === undefined) throw new Error('There is no delivery.')
    await show(page, delivery)
    await page.emulateMedia({ media: 'print' })
    const colours = await page.evaluate(
      `['body', '.drawer', '.drawer .body'].map((name) => getComputedStyle(document.querySelector(name)).backgroundColor)`,
    )
    expect(new Set(colours as string[])).toEqual(new Set(['rgb(255, 255, 255)']))
    expect(await page.locator('button, .bar, .chart, .row').filter({ visible: true }).count()).toBe(0)
    await page.locator('.drawer').getByRole('heading', { name: 'check.created' }).waitFor()
    // The paper shows all of the body.
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.drawer, .body')].filter((one) => one.scrollHeight > one.clientHeight + 1).length`,
      ),
    ).toBe(0)
  })
})
