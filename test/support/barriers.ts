import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Returns the accessibility violations that axe finds, of all rules or of one. */
export async function barriers(page: Page, rule?: string): Promise<string[]> {
  // A page that was judged before has it.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source)
  const options = { resultTypes: ['violations'], ...(rule !== undefined && { runOnly: [rule] }) }
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${JSON.stringify(options)})`)
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
