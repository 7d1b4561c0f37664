import type { RunningService } from '../running-service.ts'

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
  /** Where a start would listen; port 0 is any free one. */
  host: string
  port: number
  /** A start would serve HTTPS, and so needs the local authority. */
  https: boolean
  /** Opens and closes a port as a start does. Rejects when it cannot be had. */
  tryPort: (where: { host: string; port: number }) => Promise<void>
  /** The service that runs on the directory and answers, if there is one. */
  running: RunningService | undefined
  /** The file that a start would write what the application under test needs to. */
  envFile: string | undefined
  /** A receiver whose deliveries are to arrive. */
  receiver: URL | undefined
  /** PEM of authorities to trust, beside those of the system and the local one. */
  ca: readonly string[]
  now: Date
}
