import { Command, Errors } from '@oclif/core'
import { describeFailure, exitCodes } from './failure.ts'
import { jsonFlag } from './flags.ts'
import { renderError } from './render/error.ts'

/** What all commands share: `--json`, data to stdout and talk to stderr, errors and exit codes. */
export abstract class BaseCommand extends Command {
  static override baseFlags = jsonFlag

  protected override async init(): Promise<void> {
    await super.init()
    // A reader that has seen enough (`| head`) is no error.
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(exitCodes.done)
    })
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => this.interrupted())
  }

  /** Ctrl-C, or SIGTERM, ends a command at once, unless it has something to finish. */
  protected interrupted(): void {
    process.exit(exitCodes.interrupted)
  }

  protected get wantsJson(): boolean {
    return this.argv.includes('--json') || ['1', 'true', 'yes'].includes(process.env.TABWIRE_JSON ?? '')
  }

  /** Data: the resource with `--json`, for people otherwise. */
  protected print(resource: unknown, render: () => string): void {
    process.stdout.write(`${this.wantsJson ? JSON.stringify(resource, null, 2) : render()}\n`)
  }

  /** One element of a stream: one line of JSON, or for people. */
  protected printLine(resource: unknown, render: () => string): void {
    process.stdout.write(`${this.wantsJson ? JSON.stringify(resource) : render()}\n`)
  }

  /** Talk: banners, hints. */
  protected say(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  protected override async catch(error: Error & { exitCode?: number }): Promise<void> {
    if (error instanceof Errors.ExitError) throw error
    const failure = describeFailure(error)
    if (this.wantsJson) process.stdout.write(`${JSON.stringify({ error: failure.json })}\n`)
    else process.stderr.write(`${renderError(failure)}\n`)
    process.exitCode = failure.exitCode
  }
}
