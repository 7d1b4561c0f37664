import type { ConformanceReport } from '../../conformance/report/result.ts'
import { BaseCommand } from '../base-command.ts'
import { exitCodes } from '../errors.ts'
import { present } from './present.ts'

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
