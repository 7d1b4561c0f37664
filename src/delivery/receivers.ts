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
  const added: { base: string; receive: Receive }[] = []
  return {
    add(url, receive) {
      const receiver = { base: normalUrl(url).replace(/\/$/, ''), receive }
      added.unshift(receiver)
      return () => void added.splice(added.indexOf(receiver) >>> 0, 1)
    },
    find(url) {
      if (added.length === 0 || !URL.canParse(url)) return undefined
      const target = normalUrl(url)
      return added.find(({ base }) => target === base || /^[/?]/.test(beyond(base, target)))?.receive
    },
  }
}

/** What a URL has beyond another that it begins with. */
function beyond(base: string, target: string): string {
  return target.startsWith(base) ? target.slice(base.length) : ''
}
