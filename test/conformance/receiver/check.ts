import { execFileSync } from 'node:child_process'
import type { ConformanceReport, Verdict } from '../../../src/conformance/report.ts'
import { receiverCases, checkReceiver, type ReceiverCheck } from '../../../src/conformance/receiver/check.ts'
import { spawnProcess, type Running } from '../../support/cli.ts'

export const secret = 'whsec_bm90LWEtcmVhbC1zZWNyZXQ'

/** The words in which a program says that it listens; the address is the part that begins with `http:` or `https:`. */
export interface Announcement {
  stream: 'stdout' | 'stderr'
  pattern: RegExp
}

interface Place {
  cwd?: string
  /** Beside the secret and the port. */
  env?: Record<string, string>
  says?: Announcement | undefined
}

/** Starts a receiver that prints where it listens, as all of `fixtures/receivers` do. */
export async function startReference(
  command: readonly string[],
  { cwd, says = { stream: 'stdout', pattern: /listening on https?:\S+\s/ }, env: more = {} }: Place = {},
): Promise<{ url: string; running: Running }> {
  const [file = '', ...args] = command
  const env = { WEBHOOK_SECRET: secret, PORT: '0', ...more }
  const running = await spawnProcess(file, args, { env, ...(cwd !== undefined && { cwd }) })
  const [line = ''] = says.pattern.exec(await running.until(says.stream, says.pattern)) ?? []
  return { url: /https?:\S+/.exec(line)?.[0] ?? '', running }
}

export type Program = readonly [file: string, ...args: string[]]

/** Whether a program can be run on this machine; it is run. */
export function isHere([file, ...args]: Program): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs the suite against a receiver of its own. */
export async function checked(
  command: readonly string[],
  change: Partial<ReceiverCheck> = {},
  place: Place = {},
): Promise<ConformanceReport> {
  const { url, running } = await startReference(command, place)
  try {
    return await examine(url, change)
  } finally {
    running.child.kill('SIGKILL')
    await running.ended
  }
}

/** All cases but those that need the state of the receiver, which converges.test.ts looks at. */
export const visibleCases = receiverCases.filter(({ group }) => group !== 'converges')

/** Runs the suite against whatever is there. */
export function examine(url: string, change: Partial<ReceiverCheck> = {}): Promise<ConformanceReport> {
  return checkReceiver({
    url: new URL(url),
    headers: [],
    ca: [],
    insecure: false,
    secret,
    tolerance: 300,
    serviceName: 'Service',
    cases: visibleCases,
    // However busy this machine is, one case after the other.
    slowMs: Infinity,
    ...change,
  })
}

export function failed(report: ConformanceReport): string[] {
  return idsWith(report, 'failed')
}

/** The identifiers of the cases with this verdict. */
export function idsWith({ cases }: ConformanceReport, verdict: Verdict): string[] {
  return cases.filter((one) => one.verdict === verdict).map(({ id }) => id)
}

/** Returns the detail of a case in the report. */
export function detailOf({ cases }: ConformanceReport, id: string): string | null | undefined {
  return cases.find((one) => one.id === id)?.detail
}

/** The identifiers of the cases of a group, or of those whose identifier begins so. */
export function idsOf(group: string, prefix = ''): string[] {
  return receiverCases.filter((one) => one.group === group && one.id.startsWith(prefix)).map(({ id }) => id)
}
