import { hostname as machineName, networkInterfaces } from 'node:os'
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { DEFAULT_SERVICE_NAME, parseServiceName } from '../model/text/service-name.ts'
import { bareHost, withoutVersion } from '../model/url.ts'
import { readRun, authorityFile } from '../data-directory.ts'
import { readCertificate } from './files/input.ts'

/** A running service that answers. */
export interface RunningService {
  url: string
  pid: number
}

/** Time limit for an answer, in milliseconds. */
const HEALTH_TIMEOUT_MS = 2_000

/** Returns the service that `run.json` names, when its process is alive and it answers. */
export async function runningService(directory: string): Promise<RunningService | undefined> {
  const run = await readOwnRun(directory)
  if (run === undefined || !isAlive(run.pid)) return undefined
  return (await isTabwire(run.url, run.ca)) ? { url: run.url, pid: run.pid } : undefined
}

/**
 * Returns true when the service at `url` runs on this machine and on this data directory. Such a service reaches
 * loopback addresses of this machine and trusts the local authority. One in a container does neither, although its
 * port is published on a loopback address.
 */
export async function runsHere(directory: string, url: string): Promise<boolean> {
  const run = await readOwnRun(directory)
  if (run === undefined || !isAlive(run.pid) || (run.hostname ?? machineName()) !== machineName())
    return false
  const [own, given] = [new URL(run.url), new URL(url)]
  return own.protocol === given.protocol && own.port === given.port && isThisMachine(given.hostname)
}

/** Returns true when the process of `run.json` has ended on this machine, and another program answers at its URL. */
export async function isTakenOver(run: Run): Promise<boolean> {
  if (isAlive(run.pid) || (run.hostname ?? machineName()) !== machineName()) return false
  const health = await healthAt(run, HEALTH_TIMEOUT_MS)
  return health !== undefined && !isOfTabwire(health)
}

/** Returns true when a Tabwire answers at this URL. `ca` is the authority of its HTTPS certificate, in PEM. */
export async function isTabwire(url: string, ca?: string): Promise<boolean> {
  const health = await healthAt({ url, ca }, HEALTH_TIMEOUT_MS)
  return health !== undefined && isOfTabwire(health)
}

function isOfTabwire({ status, hasRequestId }: { status: number; hasRequestId: boolean }): boolean {
  return status === 200 && hasRequestId
}

/** Returns the answer of `/_sim/health`; `undefined` when there is none within the time limit, in milliseconds. */
async function healthAt({ url, ca }: Place, timeout: number) {
  // Loaded late: a start needs it only when its port is taken.
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({ connect: { timeout, ...(ca !== undefined && { ca }) } })
  try {
    const signal = AbortSignal.timeout(timeout)
    const { body, headers, statusCode } = await request(`${url}/_sim/health`, { signal, dispatcher })
    const hasRequestId = headers['x-request-id'] !== undefined
    return { status: statusCode, hasRequestId, text: await body.text() }
  } catch {
    return undefined
  } finally {
    await dispatcher.destroy()
  }
}

/** Returns true when a process of any user has this pid. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

type Run = NonNullable<Awaited<ReturnType<typeof readRun>>>

/**
 * Reads `run.json` of a data directory; `undefined` without a readable one. The address of another machine counts as
 * none: the file may have come with a clone, and commands would call that machine.
 */
export async function readOwnRun(directory: string): Promise<Run | undefined> {
  const run = await readRun(directory)
  return run !== undefined && isThisMachine(new URL(run.url).hostname) ? run : undefined
}

/**
 * Returns true when a host name means this machine: loopback, an address of a network interface, `0.0.0.0`, or the
 * machine's own name. Resolves no names.
 */
export function isThisMachine(hostname: string): boolean {
  const host = bareHost({ hostname }).toLowerCase()
  if (['localhost', '::1', '0.0.0.0', '::', machineName().toLowerCase()].includes(host)) return true
  if (/^127(\.\d{1,3}){3}$/.test(host)) return true
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return own.some(({ address }) => address.toLowerCase() === host)
}

/**
 * Returns the authorities to trust as PEM: the service's own, or with `--cacert` also the public ones and the named one.
 * @throws CommandError when the file cannot be read, or (usage) holds no certificate.
 */
export async function trustedCa(
  file: string | undefined,
  own: string | undefined,
): Promise<string | undefined> {
  if (file === undefined || file === '') return own
  // Loaded late: reading the public authorities takes milliseconds.
  const { trustedAuthorities } = await import('../certificates/trusted.ts')
  return [...trustedAuthorities(), await readCertificate(file), own ?? ''].join('\n')
}

interface Place {
  url: string
  /** PEM of the authority that issued the service's certificate. */
  ca?: string | undefined
}

/** Time limit for the service's name, in milliseconds. Long, since a busy service must not seem to have no name. */
const NAME_TIMEOUT_MS = 10_000

/** Returns the name that a service reports at `/_sim/health`; the default name when it reports none. */
export async function serviceNameAt({ url, ca }: Place): Promise<string> {
  const health = await healthAt({ url: withoutVersion(url), ca }, NAME_TIMEOUT_MS)
  return nameIn(health?.text ?? '') ?? DEFAULT_SERVICE_NAME
}

function nameIn(text: string): string | undefined {
  try {
    const { service_name: name } = JSON.parse(text) as { service_name?: unknown }
    return typeof name === 'string' ? parseServiceName(name) : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the certificate file of the local authority, relative to the working directory, for a client of an HTTPS URL of
 * this machine; `undefined` for other URLs, and where there is no local authority.
 */
export function localAuthorityFile(url: string, directory: string): string | undefined {
  const { protocol, hostname } = new URL(url)
  const file = authorityFile(directory)
  return protocol === 'https:' && isThisMachine(hostname) && existsSync(file) ? relative('', file) : undefined
}
