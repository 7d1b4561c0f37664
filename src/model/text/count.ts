/** Returns a number with its noun: `12 items`, `1 item`. `plural` is for irregular nouns. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
