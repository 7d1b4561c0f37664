import type { Client } from '../client.ts'
import { isTrialPath } from '../model/simulator/request-entry.ts'
import { paginate } from '../client/listing.ts'

/** A push that can be made again. */
export interface RecordedPush {
  /** The external id of its check. */
  id: string
  /** Where it is from: a file, or the request that brought it. */
  name: string
  body: string | Uint8Array
}

const PATH = /^\/v1\/checks\/external\/([^/?]+)/

/**
 * The pushes that the service took since it started, in order of arrival, as far as its log reaches. Refused ones are no
 * part of any state, and our own trials none of the session. With `only`, those of this check alone.
 */
export async function pushesInLog(
  client: Pick<Client, 'requests'>,
  only: string | undefined,
): Promise<RecordedPush[]> {
  const newestFirst: RecordedPush[] = []
  for await (const { id: name, path, push, request_body: body } of paginate(client.requests.list)) {
    const [, escaped] = PATH.exec(path) ?? []
    if (escaped === undefined || push === null || push.outcome === 'conflict') continue
    const id = decodeURIComponent(escaped)
    if (body !== null && !isTrialPath(path) && (only === undefined || id === only))
      newestFirst.push({ id, name, body })
  }
  return newestFirst.reverse()
}
