/** What one check of the surroundings found: `bad` stops something, `note` is worth knowing; `advice` says what to do. */
export interface Finding {
  check: string
  level: 'good' | 'note' | 'bad'
  message: string
  advice?: string
}

/** What the checks look at. */
export interface Surroundings {
  directory: string
  port: number
  /** A receiver whose deliveries are to arrive. */
  receiver: URL | undefined
  /** PEM of authorities to trust, beside those of the system and the local one. */
  ca: readonly string[]
  now: Date
}
