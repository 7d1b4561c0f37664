import { contentOf, parsePush } from '../model/check.ts'

/** A push as it counts when one follows another: the same for the same state, however its JSON is written. */
export function stateOf(body: string, orderBy: string): string {
  try {
    const push = parsePush(JSON.parse(body), { orderBy })
    return `${push.revision ?? ''} ${contentOf(push)}`
  } catch {
    // What is no push is the same only when its text is.
    return body
  }
}
