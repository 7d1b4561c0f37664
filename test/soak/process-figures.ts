import { readdirSync, readFileSync } from 'node:fs'

/** How many files and sockets a process has open; on Linux alone. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** What a process has in memory, in KiB; on Linux alone. */
export function residentKiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}
