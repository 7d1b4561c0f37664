import { execute as executeCommand } from '@oclif/core'
import { hideSecretsInDebugOutput } from './debug-output.ts'

/** What `bin/run.js` runs commands by: the framework that they are built with. */
export { flush, handle, run } from '@oclif/core'

/** Runs the command of this process. */
export async function execute(options: Parameters<typeof executeCommand>[0]): Promise<unknown> {
  hideSecretsInDebugOutput(process.argv, process.env, process.stderr)
  return executeCommand(options)
}
