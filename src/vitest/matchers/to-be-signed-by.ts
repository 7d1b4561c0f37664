import { verify } from '../../signature/index.ts'
import { DEFAULT_SERVICE_NAME, parseServiceName, signatureHeader } from '../../model/service-name.ts'
import { failed, passed, type Outcome } from './outcome.ts'

/** A delivery as a server has received it: a `Request` whose body was not read, or its headers and raw body. */
export type ReceivedDelivery =
  | Request
  | {
      headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
      body: string | Uint8Array
    }

/** How a signature is verified. */
export interface SignedOptions {
  /** Names the header, `X-<name>-Signature`; by default any header of this form, if there is one alone. */
  serviceName?: string
  /** How far the time of the signature may be from now, in seconds; 300 unless said otherwise. */
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
  { serviceName, tolerance }: SignedOptions = {},
): Promise<Outcome> {
  const { headers } = received
  const name = serviceName === undefined ? headerIn(headers) : headerOf(serviceName)
  const header = headers instanceof Headers ? headers.get(name) : valueOf(headers, name)
  const payload = received instanceof Request ? await received.clone().text() : received.body
  const result = verify({ payload, header, secret, tolerance })
  return result.ok
    ? passed('The delivery was not to be signed by this secret, but is.')
    : failed(`The delivery was to be signed by this secret: ${result.message}`)
}
