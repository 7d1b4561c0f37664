/** The signature header of an attempt, as it was sent. */
export interface SentSignature {
  /** The number of the attempt. */
  attempt: number
  signature: string
}
