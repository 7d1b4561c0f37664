/** Outcome of a push that the service did not answer. */
interface Lost {
  status: number
  /** The connection ended before the answer, whatever its status would have been. */
  brokeOff: boolean
  repeated: boolean
}

/** A push that failed on the way or with 5xx, and was not sent again: the state that it told of may be lost. */
export function noIdempotentRetry({ status, brokeOff, repeated }: Lost): string | undefined {
  if (repeated || !(brokeOff || status >= 500)) return undefined
  const what = brokeOff ? 'broke off without an answer' : `was answered ${status}`
  return `The push ${what} and has not come again. Nobody knows whether it took effect, and the check may be missing a change. Send the same push again until it is answered below 500: a replay changes nothing. If a newer state was sent in its place on purpose, ignore this.`
}
