import { verify } from '../../signature/index.ts'
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
  /** Names the header, `X-<name>-Signature`; `Service` unless said otherwise. */
  serviceName?: string
  /** How far the time of the signature may be from now, in seconds; 300 unless said otherwise. */
  tolerance?: number
}

export async function toBeSignedBy(
  received: ReceivedDelivery,
  secret: string,
  { serviceName = 'Service', tolerance }: SignedOptions = {},
): Promise<Outcome> {
  const name = `x-${serviceName.toLowerCase()}-signature`
  const { headers } = received
  const header = headers instanceof Headers ? headers.get(name) : headers[name]
  const payload = received instanceof Request ? await received.clone().text() : received.body
  const result = verify({ payload, header, secret, tolerance })
  return result.ok
    ? passed('The delivery was not to be signed by this secret, but is.')
    : failed(`The delivery was to be signed by this secret: ${result.message}`)
}
