import { Agent, request } from 'undici'
import { trustedContext } from '../../../certificates/trusted.ts'
import type { HeaderLine } from '../send.ts'
import type { CheckIds } from './scenario.ts'

/** Location of a receiver's state, such as `--state-url`. */
interface StateUrl {
  /** The view of one check, or of everything where `isPerCheck` is false. */
  urlOf(ids: CheckIds): URL
  /** True when the address names the check. */
  isPerCheck: boolean
}

export interface StateSource extends StateUrl {
  /** Sent with each request. */
  headers: readonly HeaderLine[]
  /** Authorities in PEM, beside those that this machine trusts. */
  ca: readonly string[]
  insecure: boolean
}

/** The view cannot be read or judged: the message says why. */
export class NotJudged extends Error {
  override readonly name = 'NotJudged'
}

/** Longest wait for an answer, in milliseconds. */
const ANSWER_MS = 10_000

/** Longest body that is read, in bytes. */
const LARGEST = 16 * 1024 * 1024

/** Answers that say that there is nothing there. */
const ABSENT = [204, 404, 410]

export interface StateReader {
  /** The body of the view, or `undefined` where there is none. */
  read(ids: CheckIds): Promise<string | undefined>
  close(): Promise<void>
}

/** Reads views by GET. Redirects are not followed. */
export function createStateReader(
  { urlOf, headers, ca, insecure }: StateSource,
  signal: AbortSignal,
): StateReader {
  const dispatcher = new Agent({
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    maxResponseSize: LARGEST,
    // A receiver may close an idle connection just as the next request is written to it.
    pipelining: 0,
    connect: {
      timeout: ANSWER_MS,
      secureContext: trustedContext(ca),
      rejectUnauthorized: !insecure,
    },
  })
  return {
    /** @throws NotJudged when there is no answer, or it is not a view. */
    async read(ids) {
      const url = urlOf(ids)
      const lines = [['Accept', 'application/json, */*;q=0.5'], ...headers].flat()
      try {
        const { statusCode, body } = await request(url, { headers: lines, dispatcher, signal })
        const text = await body.text()
        if (ABSENT.includes(statusCode)) return undefined
        if (statusCode >= 200 && statusCode < 300) return text
        throw new NotJudged(
          `Cannot read --state-url: ${withoutQuery(url)} returned ${statusCode}.${hint(statusCode)}`,
        )
      } catch (error) {
        if (error instanceof NotJudged || signal.aborted) throw error
        const { message, code } = error as NodeJS.ErrnoException
        throw new NotJudged(`Cannot read --state-url: ${withoutQuery(url)}: ${message || code}.`, {
          cause: error,
        })
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function hint(status: number): string {
  return status === 401 || status === 403 ? " Pass its credentials with --state-header 'Name: value'." : ''
}

/** Returns a URL for messages: without user info, and without the query, which may hold a token. */
export function withoutQuery({ origin, pathname }: URL): string {
  return origin + pathname
}
