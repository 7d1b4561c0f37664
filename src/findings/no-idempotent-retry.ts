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
  const what = brokeOff ? 'ended without a response' : `got the response ${status}`
  return `The push ${what} and was not retried. The check may lack its change. Send the same push again until the status is below 500: a replay changes nothing. Ignore this finding if you sent a newer state instead.`
}
