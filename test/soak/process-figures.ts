import { readdirSync, readFileSync } from 'node:fs'

/** How many files and sockets a process has open; on Linux alone. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** Returns the memory of a process in KiB; Linux only. */
export function residentKiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** By how much the straight line that fits values at equal distances goes up or down in all, as a share of their mean. */
export function trendOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const middle = (values.length - 1) / 2
  const up = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0)
  const across = values.reduce((sum, _value, index) => sum + (index - middle) ** 2, 0)
  return ((up / across) * (values.length - 1)) / mean
}
