import { makeDirectories } from '../../replace-file.ts'
import { dirname } from 'node:path'
import {
  type ConformanceReport,
  isSelected,
  requireChecked,
  unknownNames,
  toJUnit,
  toTap,
} from '../../conformance/report.ts'
import { BaseCommand } from '../base-command.ts'
import { exitCodes, usageError } from '../errors.ts'
import { Flags } from '@oclif/core'
import { fromEnvironment, junitFlag, listed, tapFlag } from '../flags.ts'
import { checkOutput, writeOutput, writing } from '../files/output.ts'
import { fitTo } from '../render/layout.ts'
import { renderConformance } from '../render/results.ts'

/** Fields about what is examined, which only the text for people has. */
export type About = readonly (readonly [name: string, value: string])[]

/** Form of the report, and the cases that must be checked. */
export interface ReportFlags {
  tap: boolean
  junit: string | undefined
  require?: string[] | undefined
}

/** Reports progress. */
type Tell = (text: string) => void

/** Base of commands that run conformance cases and report them. After Ctrl-C, the report has the finished cases. */
export abstract class ConformanceCommand extends BaseCommand {
  private readonly interruption = new AbortController()
  private hasBegun = false

  /**
   * The first Ctrl-C ends the run and prints the report. A second one, or one before the first case, exits at once.
   */
  protected override interrupted(): void {
    if (!this.hasBegun || this.interruption.signal.aborted) super.interrupted()
    this.interruption.abort()
  }

  /**
   * Runs a check, prints its report in the requested form, sets the exit code, and writes the JUnit file.
   * @throws CommandError before the check when the JUnit file cannot be written.
   */
  protected async report(
    { tap, junit, require }: ReportFlags,
    check: (tell: Tell, signal: AbortSignal) => Promise<ConformanceReport>,
    about: About = [],
  ): Promise<void> {
    await requireReportFile(junit)
    const checked = await this.progressing((tell) => {
      const begin = (text: string) => {
        this.hasBegun = true
        tell(text)
      }
      return check(begin, this.interruption.signal)
    })
    const report = requireChecked(checked, listed(require ?? []))
    const { columns } = this.terminal
    this.write(formatReport(report, { json: this.wantsJson, tap, columns, about }))
    if (report.interrupted) process.exitCode = exitCodes.interrupted
    else if (report.totals.failed > 0) process.exitCode = exitCodes.checkFailed
    else if (!report.ok) process.exitCode = exitCodes.failed
    await this.writeAlso(() => writeReport(junit, report))
  }
}

/** Flags of every conformance check: the form of the report, and the selection of cases. */
export const conformanceFlags = fromEnvironment({
  junit: junitFlag,
  tap: tapFlag,
  // With the variable of `start --strict`, which refuses unknown fields, right programs would fail.
  strict: Flags.boolean({
    description: 'Also fail cases that are based on advice. Environment variable: TABWIRE_CHECK_STRICT.',
    env: 'TABWIRE_CHECK_STRICT',
  }),
  only: Flags.string({
    description: 'Run only this case or group (case, group or group/case); repeatable.',
    multiple: true,
    multipleNonGreedy: true,
  }),
  skip: Flags.string({
    description: 'Skip this case or group; repeatable.',
    multiple: true,
    multipleNonGreedy: true,
  }),
  require: Flags.string({
    description: 'Exit 1 when this case, or one of this group, could not be checked; repeatable.',
    multiple: true,
    multipleNonGreedy: true,
  }),
})

interface CaseFlags {
  only: readonly string[] | undefined
  skip?: readonly string[] | undefined
  require?: readonly string[] | undefined
}

/**
 * Returns the cases that `--only` and `--skip` select.
 * @throws CommandError (usage) for an unknown name, or when no case is left, or none that `--require` names.
 */
export function chosenCases<T extends { group: string; id: string }>(
  cases: readonly T[],
  { only, skip, require }: CaseFlags,
): T[] {
  const names = { only: listed(only ?? []), skip: listed(skip ?? []), require: listed(require ?? []) }
  for (const [flag, given] of Object.entries(names)) {
    const [unknown] = unknownNames(cases, given)
    if (unknown === undefined) continue
    const groups = [...new Set(cases.map(({ group }) => group))].join(', ')
    throw usageError(
      `--${flag} must be a case or group, got ${JSON.stringify(unknown)}.${unknown.includes(',') ? ' Repeat the flag for several.' : ''} Groups: ${groups}. The report lists the cases.`,
    )
  }
  const left = cases.filter((one) => isSelected(one, names))
  if (left.length === 0) throw usageError('--only and --skip leave no case to run.')
  const [missing] = unknownNames(left, names.require)
  if (missing !== undefined)
    throw usageError(`--require ${missing}: --only or --skip leaves out every case of that name.`)
  return left
}

interface ReportFormat {
  json: boolean
  tap: boolean
  columns: number
  about: About
}

/** Returns the text to print, with its line break. `--json` takes precedence over `--tap`. */
export function formatReport(report: ConformanceReport, { json, tap, columns, about }: ReportFormat): string {
  if (json) return `${JSON.stringify(report, null, 2)}\n`
  return tap ? toTap(report) : `${fitTo(columns, renderConformance(report, columns, about))}\n`
}

/**
 * Checks that `--junit` can be written, before the run that it reports; creates its directory as test runners do.
 * @throws CommandError when it cannot.
 */
export async function requireReportFile(file: string | undefined): Promise<void> {
  if (file !== undefined) await writingReport(file, () => checkOutput(file))
}

/**
 * Writes a report as JUnit XML, where a file is named.
 * @throws CommandError when the file cannot be written.
 */
export async function writeReport(file: string | undefined, report: ConformanceReport): Promise<void> {
  if (file !== undefined)
    await writingReport(file, async () => writeOutput(file, await toJUnit(report), 0o644))
}

function writingReport(file: string, work: () => Promise<void>): Promise<void> {
  return writing(file, { flag: '--junit', content: 'report' }, async () => {
    await makeDirectories(dirname(file))
    await work()
  })
}
