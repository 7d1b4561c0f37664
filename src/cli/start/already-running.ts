import { runningService } from '../doctor/running-service.ts'
import { CommandError } from '../failure.ts'

/** What to say when a start fails because the service runs here already; `undefined` when it fails for another reason. */
export async function alreadyRunning(
  error: unknown,
  directory: string,
  port: number,
): Promise<CommandError | undefined> {
  const name = error instanceof Error ? error.name : ''
  if (name !== 'DirectoryInUse' && name !== 'PortUnavailable') return undefined
  const running = await runningService(directory)
  if (running === undefined) return undefined
  if (name === 'PortUnavailable' && new URL(running.url).port !== String(port)) return undefined
  return new CommandError(
    'already_running',
    `Tabwire already runs here at ${running.url} (pid ${running.pid}). Use it, stop it, or start another one with --data-dir and --port.`,
  )
}
