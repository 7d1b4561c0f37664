import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Returns the accessibility violations that axe finds. */
export async function barriers(page: Page): Promise<string[]> {
  // A page that was judged before has it.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source)
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
