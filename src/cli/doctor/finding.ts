import type { RunningService } from '../running-service.ts'

/** Result of one check: `bad` prevents something, `note` is worth knowing; `advice` says what to do. */
export interface DoctorFinding {
  check: string
  level: 'good' | 'note' | 'bad'
  message: string
  advice?: string
}

/** Makes a finding; without `advice`, it has none. */
export function finding(
  check: string,
  level: DoctorFinding['level'],
  message: string,
  advice?: string,
): DoctorFinding {
  return { check, level, message, ...(advice !== undefined && { advice }) }
}

/** Input of the checks. */
export interface Environment {
  directory: string
  /** Address that a start would use; port 0 means any free port. */
  host: string
  port: number
  /** A start would serve HTTPS, which needs the local authority. */
  https: boolean
  /** Opens and closes a port as a start does. Rejects when that fails. */
  tryPort: (where: { host: string; port: number }) => Promise<void>
  /** The running service of the directory, if it answers. */
  running: RunningService | undefined
  /** The file of `--dotenv`. */
  envFile: string | undefined
  /** The receiver to check. */
  receiver: URL | undefined
  /** PEM of further authorities to trust, beside those of the system and the local one. */
  ca: readonly string[]
  /** A start would accept any certificate of a receiver. */
  insecure: boolean
  /** Hosts at which a start would accept plain HTTP. */
  plainHttpHosts: readonly string[]
  /** Returns why a start would send nothing to the addresses of a URL; `undefined` when it would. */
  whyAddressRefused: (url: string) => Promise<string | undefined>
  now: Date
}
