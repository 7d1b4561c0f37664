import chalk from 'chalk'
import type { ScenarioReport, StepReport } from '../scenario/play.ts'
import type { Step } from '../scenario/schema.ts'
import { printable, renderer } from './text.ts'
import { count } from './words.ts'

/** A step of a scenario, with expected and actual where it did not pass. */
export const renderStep = renderer(
  ({ number, step, passed, mismatches, error, skipped_deliveries }: StepReport): string => {
    const mark = passed ? chalk.green('✓') : chalk.red('✗')
    const note = step.note === undefined ? '' : `  ${chalk.dim(printable(step.note))}`
    const head = `  ${mark} ${String(number).padStart(2)}  ${printable(subjectOf(step))}${note}`
    const wrong = mismatches.map(
      ({ path, expected, actual }) =>
        `        ${chalk.bold(path)}\n          expected ${chalk.green(shown(expected))}\n          actual   ${chalk.red(shown(actual))}`,
    )
    const why = error === null ? [] : [`        ${printable(error)}`]
    const skipped = skipped_deliveries
      ? [chalk.dim('        deliveries were not looked at: name an endpoint by --endpoint or --forward-to')]
      : []
    return [head, ...wrong, ...why, ...skipped].join('\n')
  },
)

export const renderScenarioEnd = renderer(
  ({ passed, steps, steps_total, checks }: ScenarioReport): string => {
    const ids = Object.values(checks).map(printable).join(', ')
    const untaken = steps_total - steps.length
    const text = passed
      ? chalk.green(`passed, ${count(steps_total, 'step')}`)
      : chalk.red(
          `failed at step ${steps.length}${untaken > 0 ? `, ${count(untaken, 'step')} not taken` : ''}`,
        )
    return `  ${text}  ${chalk.dim(ids)}`
  },
)

/** `claim dinner Anna`. */
function subjectOf(step: Step): string {
  const { check, claim, payment, by, guest_name } = step as Partial<Record<string, string>>
  return [step.do, check ?? claim ?? payment ?? by, guest_name].filter((word) => word !== undefined).join(' ')
}

function shown(value: unknown): string {
  return value === undefined
    ? 'nothing'
    : printable(typeof value === 'string' ? value : JSON.stringify(value))
}
