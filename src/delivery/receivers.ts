import { normalUrl } from './destination-url.ts'

/** Takes a delivery in this process, as a server's handler would: a web framework's `fetch` is one. */
export type Receive = (request: Request) => Response | Promise<Response>

/** Which URLs are received in this process, so that nothing goes over the network and no name is resolved. */
export interface Receivers {
  /** Has deliveries to this URL, and to all beneath it, handed over. The result takes that back. @throws TypeError. */
  add(url: string, receive: Receive): () => void
  /** The one that was added last, of those that a URL is for. */
  find(url: string): Receive | undefined
}

export function createReceivers(): Receivers {
  const added = new Set<{ base: string; receive: Receive }>()
  return {
    add(url, receive) {
      if (!URL.canParse(url))
        throw new TypeError(
          `Deliveries are received at an absolute URL such as https://shop.example/webhooks, not at ${JSON.stringify(url)}.`,
        )
      const receiver = { base: normalUrl(url).replace(/\/$/, ''), receive }
      added.add(receiver)
      return () => void added.delete(receiver)
    },
    find(url) {
      if (added.size === 0 || !URL.canParse(url)) return undefined
      const target = normalUrl(url)
      return [...added].findLast(({ base }) => target === base || /^[/?]/.test(beyond(base, target)))?.receive
    },
  }
}

/** What a URL has beyond another that it begins with. */
function beyond(base: string, target: string): string {
  return target.startsWith(base) ? target.slice(base.length) : ''
}
