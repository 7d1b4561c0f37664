import { readFileSync, readlinkSync } from 'node:fs'

/** Identity of a running process. Process ids are reused, but not with the same start time. */
export interface ProcessIdentity {
  pid: number
  started: string
}

/** Only Linux tells when other processes started; elsewhere a process knows only its own start time. */
export const ownIdentity: ProcessIdentity = {
  pid: process.pid,
  started: linuxProcess(process.pid)?.started ?? String(Math.round(performance.timeOrigin)),
}

/** Identifies the pid namespace, such as a container's; within it a process id is unambiguous. Linux only. */
export const pidNamespace: string | undefined = linkAt('/proc/self/ns/pid')

/** Returns true while this process runs. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  if (pid === process.pid) return started === ownIdentity.started
  if (linuxProcess(process.pid) === undefined) return answersSignals(pid)
  const found = linuxProcess(pid)
  return found?.started === started && !found.dead
}

/** A killed process stays listed, in state Z, until its parent reads its status. */
function linuxProcess(pid: number): { started: string; dead: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in brackets can contain spaces and brackets; field 3 follows the last bracket, and field 22 is the
    // start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, started] = [fields[0], fields[19]]
    return started === undefined ? undefined : { started, dead: state === 'Z' || state === 'X' }
  } catch {
    return undefined
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // A running process of another user.
  }
}
