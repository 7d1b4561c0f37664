/** Outcome of a push that the service did not answer. */
interface Lost {
  status: number
  /** True when the connection ended before the response. */
  brokeOff: boolean
  repeated: boolean
}

/** Finds a push that failed with 5xx or without a response and was not repeated: its state may be lost. */
export function noIdempotentRetry({ status, brokeOff, repeated }: Lost): string | undefined {
  if (repeated || !(brokeOff || status >= 500)) return undefined
  const what = brokeOff ? 'broke off without an answer' : `was answered ${status}`
  return `The push ${what} and has not come again. Nobody knows whether it took effect, and the check may be missing a change. Send the same push again until it is answered below 500: a replay changes nothing. If a newer state was sent in its place on purpose, ignore this.`
}
