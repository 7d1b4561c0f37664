import { bareHost } from '../../model/loopback.ts'
import { hostname as machineName, networkInterfaces } from 'node:os'
import { readRun } from '../../data-directory.ts'

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

type Run = NonNullable<Awaited<ReturnType<typeof readRun>>>

/**
 * Returns what `run.json` of a data directory says, `undefined` without a readable one. An address of another machine
 * counts as none: the file may have come with a clone, and commands would call whatever it names.
 */
export async function readOwnRun(directory: string): Promise<Run | undefined> {
  const run = await readRun(directory)
  return run !== undefined && isThisMachine(new URL(run.url).hostname) ? run : undefined
}
