import {
  type ConformanceReport,
  isSelected,
  unknownNames,
  type Selection,
} from '../../conformance/report/result.ts'
import { BaseCommand } from '../base-command.ts'
import { exitCodes, usageError, CommandError } from '../errors.ts'
import { Flags } from '@oclif/core'
import { fromEnvironment, listed } from '../flags.ts'
import { writeFile } from 'node:fs/promises'
import { toJUnit, toTap } from '../../conformance/report/formats.ts'
import { renderConformance } from '../render/results.ts'

/** Tells what is being done. */
type Tell = (text: string) => void

/** A command that checks by cases, and reports what came of them: all of them, or, after Ctrl-C, those that were checked. */
export abstract class ConformanceCommand extends BaseCommand {
  private readonly interruption = new AbortController()
  private hasBegun = false

  /** Ctrl-C ends the check and leads to the report; a second one, or one before there is anything to report, ends all. */
  protected override interrupted(): void {
    if (!this.hasBegun || this.interruption.signal.aborted) super.interrupted()
    this.interruption.abort()
  }

  /** Has a check made, prints its report in the form asked for, and sets the exit code. */
  protected async report(
    { tap, junit }: { tap: boolean; junit: string | undefined },
    check: (tell: Tell, signal: AbortSignal) => Promise<ConformanceReport>,
  ): Promise<ConformanceReport> {
    const report = await this.progressing((tell) => {
      const begin = (text: string) => {
        this.hasBegun = true
        tell(text)
      }
      return check(begin, this.interruption.signal)
    })
    const { columns } = this.terminal
    this.write(await present(report, { json: this.wantsJson, tap, junit, columns }))
    if (report.interrupted) process.exitCode = exitCodes.interrupted
    else if (!report.ok) process.exitCode = exitCodes.checkFailed
    return report
  }
}

/** What every conformance check takes: how to report, and which cases. */
export const conformanceFlags = fromEnvironment({
  junit: Flags.string({ description: 'Also write the report to this file, as JUnit XML.' }),
  tap: Flags.boolean({ description: 'Print the report as TAP 14.', exclusive: ['json'] }),
  strict: Flags.boolean({ description: 'Fail cases that rest on advice, too.' }),
  only: Flags.string({
    description: 'Only these cases or groups: case, group or group/case; repeatable.',
    multiple: true,
    multipleNonGreedy: true,
  }),
  skip: Flags.string({
    description: 'All but these cases or groups; repeatable.',
    multiple: true,
    multipleNonGreedy: true,
  }),
})

interface Asked {
  only: readonly string[] | undefined
  skip: readonly string[] | undefined
}

/**
 * The cases that `--only` and `--skip` leave.
 * @throws CommandError (usage) when a name names none, or none is left.
 */
export function chosenCases<T extends { group: string; id: string }>(
  cases: readonly T[],
  { only, skip }: Asked,
): T[] {
  const selection: Selection = { only: listed(only ?? []), skip: listed(skip ?? []) }
  const [unknown] = unknownNames(cases, selection)
  const groups = [...new Set(cases.map(({ group }) => group))].join(', ')
  if (unknown !== undefined)
    throw usageError(
      `There is no case or group ${unknown}. The groups are ${groups}; the report names the cases.`,
    )
  const left = cases.filter((one) => isSelected(one, selection))
  if (left.length === 0) throw usageError('--only and --skip leave no case to check.')
  return left
}

interface Wanted {
  json: boolean
  tap: boolean
  junit: string | undefined
  /** How wide the terminal is. */
  columns?: number
}

/**
 * What to print of a report, with its line break; the JUnit file is written first, so that a reader of standard output
 * finds it. `--json` goes before `--tap`.
 * @throws CommandError when the file cannot be written.
 */
export async function present(
  report: ConformanceReport,
  { json, tap, junit, columns }: Wanted,
): Promise<string> {
  if (junit !== undefined) await writeReport(junit, await toJUnit(report))
  if (json) return `${JSON.stringify(report, null, 2)}\n`
  return tap ? toTap(report) : `${renderConformance(report, columns)}\n`
}

async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `The report cannot be written to ${file} (${code}).`)
  }
}
