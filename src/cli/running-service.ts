import { DEFAULT_SERVICE_NAME, parseServiceName } from '../model/service-name.ts'
import { bareHost } from '../model/loopback.ts'
import { hostname as machineName, networkInterfaces } from 'node:os'
import { readRun } from '../data-directory.ts'

/** A service that runs on a data directory and answers. */
export interface RunningService {
  url: string
  pid: number
}

/** How long it may take to answer, in milliseconds. */
const HEALTH_TIMEOUT_MS = 2_000

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
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS)
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

type Run = NonNullable<Awaited<ReturnType<typeof readRun>>>

/**
 * Returns what `run.json` of a data directory says, `undefined` without a readable one. An address of another machine
 * counts as none: the file may have come with a clone, and commands would call whatever it names.
 */
export async function readOwnRun(directory: string): Promise<Run | undefined> {
  const run = await readRun(directory)
  return run !== undefined && isThisMachine(new URL(run.url).hostname) ? run : undefined
}

/**
 * Whether a host name of a URL means this machine without asking anybody: loopback, an address of one of its network
 * interfaces, every address (`0.0.0.0`), or its own name.
 */
export function isThisMachine(hostname: string): boolean {
  const host = bareHost({ hostname }).toLowerCase()
  if (['localhost', '::1', '0.0.0.0', '::', machineName().toLowerCase()].includes(host)) return true
  if (/^127(\.\d{1,3}){3}$/.test(host)) return true
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return own.some(({ address }) => address.toLowerCase() === host)
}

interface Place {
  url: string
  /** PEM of the authority that issued the service's certificate. */
  ca?: string | undefined
}

/** Longest wait for the service to tell its name, in milliseconds: a busy one must not pass for one without a name. */
const NAME_TIMEOUT_MS = 10_000

/** The name that a running service tells at `/_sim/health`, or the default one where it tells none. */
export async function serviceNameAt({ url, ca }: Place): Promise<string> {
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({ connect: { timeout: NAME_TIMEOUT_MS, ...(ca !== undefined && { ca }) } })
  try {
    const health = `${url.replace(/\/+(v1\/?)?$/, '')}/_sim/health`
    const { body } = await request(health, { dispatcher, signal: AbortSignal.timeout(NAME_TIMEOUT_MS) })
    const { service_name: name } = (await body.json()) as { service_name?: unknown }
    return (typeof name === 'string' ? parseServiceName(name) : undefined) ?? DEFAULT_SERVICE_NAME
  } catch {
    return DEFAULT_SERVICE_NAME
  } finally {
    await dispatcher.destroy()
  }
}
