import { INTERRUPTED, untilInterrupted } from '../report/interruption.ts'
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

/** After so many cases without an answer, each after seconds, the rest would take too long. */
const PATIENCE = 2

/** Checks the cases one after the other; whatever the implementation does, each has a verdict, even if interrupted. */
export async function runContract(
  site: Site,
  cases: readonly ContractCase[],
  tell: (text: string) => void,
  signal: AbortSignal,
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  let silent = 0
  for (const [index, one] of cases.entries()) {
    const { group, id, title, section } = one
    tell(`${index + 1} of ${cases.length}  ${group}/${id}`)
    const started = performance.now()
    const seen = silent >= PATIENCE ? gone : await judge(site, one, signal)
    if (seen.silent === true) silent += 1
    const duration_ms = Math.round(performance.now() - started)
    const { verdict, detail } = seen
    results.push({
      group,
      id,
      title,
      basis: 'observe' in one ? 'open' : 'specification',
      reason: `Specification, ${section}.`,
      verdict,
      detail,
      duration_ms,
    })
  }
  return results
}

interface Seen {
  verdict: Verdict
  detail: string | null
  silent?: boolean
}

const gone: Seen = { verdict: 'not_checked', detail: `Not checked: ${PATIENCE} cases before had no answer.` }

async function judge(site: Site, one: ContractCase, signal: AbortSignal): Promise<Seen> {
  if (signal.aborted) return { verdict: 'not_checked', detail: INTERRUPTED }
  const lacking = (one.needs ?? []).filter((need) => site.lacks(need))
  if (lacking.length > 0)
    return { verdict: 'not_checked', detail: notChecked(`This service offers no ${lacking.join(', ')}.`) }
  try {
    if ('observe' in one)
      return { verdict: 'observed', detail: await untilInterrupted(one.observe(site), signal) }
    await untilInterrupted(one.check(site), signal)
    return { verdict: 'passed', detail: null }
  } catch (error) {
    return signal.aborted ? { verdict: 'not_checked', detail: INTERRUPTED } : verdictOf(error)
  }
}

function verdictOf(error: unknown): Seen {
  if (error instanceof NotChecked) return { verdict: 'not_checked', detail: notChecked(error.message) }
  if (error instanceof Broken) return { verdict: 'failed', detail: error.message }
  if (error instanceof NoAnswer) return { verdict: 'failed', detail: error.message, silent: true }
  throw error
}

function notChecked(why: string): string {
  return `Not checked: ${why.charAt(0).toLowerCase()}${why.slice(1)}`
}
