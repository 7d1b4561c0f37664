import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { isSoak } from '../soak/seeded.ts'

/** Loads axe into the page. A page that was judged before has it. */
async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source)
}

function textsOf({ violations }: axe.AxeResults): string[] {
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Returns the accessibility violations that axe finds, of all rules; outside the soak, in what is new on the page. */
export async function barriers(page: Page): Promise<string[]> {
  if (!isSoak) return newBarriers(page)
  await loadAxe(page)
  return textsOf(await page.evaluate<axe.AxeResults>(`axe.run({ resultTypes: ['violations'] })`))
}

/** The same in the soak; elsewhere nothing, because `axe.test.ts` judges every state of the inspector there. */
export async function barriersInSoak(page: Page): Promise<string[]> {
  return isSoak ? barriers(page) : []
}

/**
 * Judges in the page only what it has not seen. Contrast: one text per place (tags and classes up to the root), colours and
 * font. All other rules: the document, unless one with the same visible elements was judged.
 */
const judgeNew = `(async () => {
  const seen = (window.judged ??= new Set())
  const isNew = (key) => !seen.has(key) && seen.add(key) !== undefined
  const texts = []
  let visible = ''
  const placeOf = (element) =>
    element === null ? '' : placeOf(element.parentElement) + '>' + element.tagName + '.' + element.getAttribute('class')
  const groundOf = (element) => {
    if (element === null) return ''
    const { backgroundColor, opacity } = getComputedStyle(element)
    return backgroundColor.replace('rgba(0, 0, 0, 0)', '') + (opacity === '1' ? '' : opacity) + '/' + groundOf(element.parentElement)
  }
  for (const element of document.body.querySelectorAll('*')) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue
    const named = ['role', 'id', 'href', 'for', 'title', 'tabindex', 'type', 'aria-label', 'aria-current', 'aria-expanded']
    visible += element.tagName + named.map((name) => element.getAttribute(name)).join()
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (own) visible += element.textContent.length
    if (!own && !element.matches('input, select')) continue
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    if (isNew([placeOf(element), color, groundOf(element), fontSize, fontWeight].join())) texts.push(element)
  }
  const violations = []
  const run = async (...how) => violations.push(...(await axe.run(...how)).violations)
  const options = { resultTypes: ['violations'] }
  if (texts.length > 0) await run({ include: texts }, { ...options, runOnly: ['color-contrast'] })
  if (isNew(visible)) await run({ ...options, rules: { 'color-contrast': { enabled: false } } })
  return { violations }
})()`

/** Returns the violations that axe finds in what this page has not shown before. */
export async function newBarriers(page: Page): Promise<string[]> {
  await loadAxe(page)
  return textsOf(await page.evaluate<axe.AxeResults>(judgeNew))
}
