import type { Simulator as Service } from '../simulator.ts'

/** A delivery to a receiver in this process. */
export interface ReceivedRequest {
  /** The URL that it was sent to. */
  url: string
  headers: Headers
  /** The raw body: these bytes are signed. */
  body: string
  /** The status of the receiver's answer; `undefined` while there is none, or when the receiver threw. */
  status: number | undefined
}

/** Requests that are kept; older ones leave, so that long runs do not grow. */
const MOST_KEPT = 1_000

type Receiver = (request: Request) => Response | Promise<Response>

/** Stores deliveries to receivers in this process. */
export function createReceived(receive: Service['receive']) {
  const bases = new Set<string>()
  const requests: ReceivedRequest[] = []

  async function note(request: Request): Promise<ReceivedRequest> {
    const { url, headers } = request
    const body = await request.clone().text()
    const received = { url, headers: new Headers(headers), body, status: undefined }
    if (requests.push(received) > MOST_KEPT) requests.shift()
    return received
  }

  return {
    receive(url: string, receiver: Receiver = noContent): () => void {
      const takeBack = receive(url, async (request) => {
        const received = await note(request)
        const response = await receiver(request)
        received.status = response.status
        return response
      })
      bases.add(baseOf(url))
      return takeBack
    },
    received(url: string): ReceivedRequest[] {
      const base = baseOf(url)
      if (![...bases].some((one) => isBeneath(base, one) || isBeneath(one, base)))
        throw new TypeError(
          `No receiver in this process handles ${base}. Register one with simulator.receive(${JSON.stringify(url)}).`,
        )
      return requests.filter((request) => isBeneath(baseOf(request.url), base))
    },
    /** Forgets what was received; receivers stay. */
    clear(): void {
      requests.length = 0
    },
  }
}

function noContent(): Response {
  return new Response(null, { status: 204 })
}

/** @throws TypeError unless the URL is absolute. */
function baseOf(url: string): string {
  if (URL.canParse(url)) return new URL(url).href.replace(/\/$/, '')
  throw new TypeError(
    `The URL must be absolute, such as https://shop.example/webhooks, got ${JSON.stringify(url)}.`,
  )
}

function isBeneath(url: string, base: string): boolean {
  return url === base || (url.startsWith(base) && /[/?]/.test(url.charAt(base.length)))
}
