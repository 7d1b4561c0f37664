import type { CaseResult, Verdict } from '../report/result.ts'
import { access } from './access.ts'
import { NoAnswer } from './ask.ts'
import { Broken, NotChecked, type ContractCase } from './case.ts'
import { checks } from './checks.ts'
import { conflicts } from './conflicts.ts'
import { deliveries } from './deliveries.ts'
import { endpoints } from './endpoints.ts'
import { requests } from './requests.ts'
import { retries } from './retries.ts'
import type { Site } from './site.ts'

/** The specification as cases, in its order as far as one needs what another shows. Retries move the clock, so come last. */
export const contractCases: readonly ContractCase[] = [
  ...requests,
  ...access,
  ...checks,
  ...conflicts,
  ...endpoints,
  ...deliveries,
  ...retries,
]

/** After so many cases without any answer, nobody is there to be checked. */
const PATIENCE = 2

/** Checks the cases one after the other; whatever the implementation does, each has a verdict. */
export async function runContract(
  site: Site,
  cases: readonly ContractCase[],
  onCase: (text: string) => void,
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  let silent = 0
  for (const one of cases) {
    const { group, id, title, section } = one
    onCase(`${group}: ${title}`)
    const started = performance.now()
    const seen = silent >= PATIENCE ? gone : await judge(site, one)
    silent = seen.silent === true ? silent + 1 : 0
    const duration_ms = Math.round(performance.now() - started)
    const { verdict, detail } = seen
    results.push({ group, id, title, reason: `Specification, ${section}.`, verdict, detail, duration_ms })
  }
  return results
}

interface Seen {
  verdict: Verdict
  detail: string | null
  silent?: boolean
}

const gone: Seen = { verdict: 'skipped', detail: 'Nobody answers any more.', silent: true }

async function judge(site: Site, one: ContractCase): Promise<Seen> {
  const lacking = (one.needs ?? []).filter((need) => site.lacks(need))
  if (lacking.length > 0)
    return { verdict: 'skipped', detail: `Not checked: this service offers no ${lacking.join(', ')}.` }
  try {
    if ('observe' in one) return { verdict: 'observed', detail: await one.observe(site) }
    await one.check(site)
    return { verdict: 'passed', detail: null }
  } catch (error) {
    return verdictOf(error)
  }
}

function verdictOf(error: unknown): Seen {
  if (error instanceof NotChecked) return { verdict: 'skipped', detail: `Not checked: ${error.message}` }
  if (error instanceof Broken) return { verdict: 'failed', detail: error.message }
  if (error instanceof NoAnswer) return { verdict: 'failed', detail: error.message, silent: true }
  throw error
}
