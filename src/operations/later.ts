/** The time of a change: now, but a millisecond after the last one at least, so that newer states carry later times. */
export function later(last: string, now: Date): string {
  return new Date(Math.max(now.getTime(), Date.parse(last) + 1)).toISOString()
}
