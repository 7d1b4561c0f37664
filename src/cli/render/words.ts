import chalk from 'chalk'

/** 1350 → `13.50`, in minor units of two digits as all fixtures are; negative amounts keep their sign. */
export function money(cents: number): string {
  const sign = cents < 0 ? '-' : ''
  const whole = Math.abs(cents)
  return `${sign}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')}`
}

const moods: Record<string, (text: string) => string> = {
  created: chalk.green,
  updated: chalk.green,
  unchanged: chalk.dim,
  stale: chalk.yellow,
  conflict: chalk.red,
  open: chalk.green,
  closed: chalk.dim,
  enabled: chalk.green,
  disabled: chalk.red,
  pending: chalk.yellow,
  delivered: chalk.green,
  dead: chalk.red,
  succeeded: chalk.green,
}

/** A status word in the colour that it has everywhere. */
export function status(word: string): string {
  return (moods[word] ?? chalk.red)(word)
}

/** `12 items`, `1 item`; a noun with a plural of its own brings it along. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

export { moment } from '../../model/time.ts'
