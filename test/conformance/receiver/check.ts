import type { ConformanceReport } from '../../../src/conformance/report/result.ts'
import { receiverCases } from '../../../src/conformance/receiver/cases.ts'
import { checkReceiver, type ReceiverCheck } from '../../../src/conformance/receiver/check.ts'
import { spawnProcess, type Running } from '../../support/cli.ts'

export const secret = 'whsec_bm90LWEtcmVhbC1zZWNyZXQ'

/** In which words a program says that it listens; the address is the part that begins with `http:`. */
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
  { cwd, env: more, says = { stream: 'stdout', pattern: /listening on http:\S+\// } }: Place = {},
): Promise<{ url: string; running: Running }> {
  const [file = '', ...args] = command
  const env = { ...more, WEBHOOK_SECRET: secret, PORT: '0' }
  const running = await spawnProcess(file, args, { env, ...(cwd !== undefined && { cwd }) })
  const [line = ''] = says.pattern.exec(await running.until(says.stream, says.pattern)) ?? []
  return { url: /http:\S+/.exec(line)?.[0] ?? '', running }
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
    cases: receiverCases,
    ...change,
  })
}

export function failed({ cases }: ConformanceReport): string[] {
  return cases.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)
}

/** The identifiers of the cases of a group, or of those whose identifier begins so. */
export function idsOf(group: string, prefix = ''): string[] {
  return receiverCases.filter((one) => one.group === group && one.id.startsWith(prefix)).map(({ id }) => id)
}
