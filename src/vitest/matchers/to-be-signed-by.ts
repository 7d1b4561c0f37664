import { requireKnownOptions } from '../../model/simulator/settings.ts'
import { sign, verify } from '../../signature/index.ts'
import { DEFAULT_SERVICE_NAME, parseServiceName, signatureHeader } from '../../model/service-name.ts'
import { failed, kindOf, passed, type Outcome } from './outcome.ts'

/** A delivery as a server has received it: a `Request` whose body was not read, or its headers and raw body. */
export type ReceivedDelivery =
  | Request
  | {
      headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
      body: string | Uint8Array
    }

/** How a signature is verified. */
export interface SignedOptions {
  /**
   * Names the header, `X-<name>-Signature`.
   * @default any header of this form, if there is one alone
   */
  serviceName?: string
  /**
   * Seconds that the time of the signature may be from now.
   * @default 300
   */
  tolerance?: number
}

/** The name of the only signature header, in lower case; that of the default name where there are none or several. */
function headerIn(headers: ReceivedDelivery['headers']): string {
  const names = headers instanceof Headers ? [...headers.keys()] : Object.keys(headers)
  const [name, ...others] = names.filter((one) => /^x-.+-signature$/i.test(one))
  return name === undefined || others.length > 0 ? headerOf(DEFAULT_SERVICE_NAME) : name
}

/** Names of headers do not differ by case, in whatever form a server hands them over. */
function valueOf(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string) {
  return Object.entries(headers).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1]
}

function headerOf(serviceName: string): string {
  return signatureHeader(parseServiceName(serviceName) ?? serviceName).toLowerCase()
}

export async function toBeSignedBy(
  received: ReceivedDelivery,
  secret: string,
  options: SignedOptions = {},
): Promise<Outcome> {
  requireReceived(received)
  requireKnownOptions(options, ['serviceName', 'tolerance'])
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError(`toBeSignedBy expects the signing secret of an endpoint, got ${kindOf(secret)}.`)
  const { serviceName, tolerance } = options
  const { headers } = received
  const name = serviceName === undefined ? headerIn(headers) : headerOf(serviceName)
  const given = headers instanceof Headers ? headers.get(name) : valueOf(headers, name)
  const header = typeof given === 'string' || given === null ? given : given?.join(', ')
  const payload = received instanceof Request ? await received.clone().text() : received.body
  const result = verify({ payload, header, secret, tolerance })
  const lines = [`  ${name}: ${header ?? '(no such header)'}`]
  if (result.ok) return passed({ expected: 'no signature of this secret', got: 'a genuine one', lines })
  const timestamp = Number(/^t=(\d{1,12}),/.exec(header ?? '')?.[1] ?? NaN)
  const isComparable = result.code === 'signature_mismatch' && !Number.isNaN(timestamp)
  return failed({
    expected: 'a signature of this secret over these bytes, of about now',
    got: `${result.code}: ${result.message}`,
    lines,
    diff: isComparable ? { actual: header, expected: sign({ payload, secret, timestamp }) } : undefined,
  })
}

/** @throws TypeError unless it is a request whose body can be read, or has headers and a raw body. */
function requireReceived(received: unknown): void {
  const wanted = 'toBeSignedBy expects a Request, or { headers, body } with the raw body as text or bytes'
  if (received instanceof Request) {
    if (!received.bodyUsed) return
    throw new TypeError(
      `${wanted}, got a Request whose body has been read. Pass request.clone() before reading it.`,
    )
  }
  const { headers, body } = (received ?? {}) as { headers?: unknown; body?: unknown }
  const hasBody = typeof body === 'string' || body instanceof Uint8Array
  if (typeof headers === 'object' && headers !== null && hasBody) return
  const isParsed = typeof body === 'object' && body !== null
  throw new TypeError(`${wanted}, got ${isParsed ? `${kindOf(body)} as body` : kindOf(received)}.`)
}
