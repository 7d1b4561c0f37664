import type { ServerResponse } from 'node:http'
import { FastResponse } from 'srvx'

/** A response with a text that is known as a whole, which Node can send in one piece with its head. */
export class TextResponse extends FastResponse {
  readonly #text: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(text: string, status: number, headers: Readonly<Record<string, string>>) {
    super(text, { status, headers })
    this.#text = text
    this.#headers = headers
  }

  /** Sends it by Node's own means; as a Response it would go out in two pieces, each with its own cost. */
  sendTo(response: ServerResponse): void {
    const head = ['content-length', String(Buffer.byteLength(this.#text))]
    for (const name in this.#headers) head.push(name, this.#headers[name] ?? '')
    response.writeHead(this.status, head)
    response.end(this.#text)
  }
}
