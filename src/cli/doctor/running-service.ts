import { readOwnRun } from '../trust/own-address.ts'

/** A service that runs on a data directory and answers. */
export interface RunningService {
  url: string
  pid: number
}

/** How long it may take to answer, in milliseconds. */
const PATIENCE_MS = 2_000

/** The service that `run.json` names, when its process lives and it answers. */
export async function runningService(directory: string): Promise<RunningService | undefined> {
  const run = await readOwnRun(directory)
  if (run === undefined || !isAlive(run.pid)) return undefined
  return (await isTabwire(run.url, run.ca)) ? { url: run.url, pid: run.pid } : undefined
}

/** Whether a Tabwire answers at this URL. `ca` is the authority of its certificate in PEM, when it is on HTTPS. */
export async function isTabwire(url: string, ca?: string): Promise<boolean> {
  // A start does without it unless something is in its way.
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } })
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const { body, headers, statusCode } = await request(`${url}/_sim/health`, { signal, dispatcher })
    await body.dump()
    return statusCode === 200 && headers['x-request-id'] !== undefined
  } catch {
    return false
  } finally {
    await dispatcher.close()
  }
}

/** Whether a process runs, of whichever user. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
