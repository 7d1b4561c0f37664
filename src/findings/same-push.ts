import { contentOf, parsePush } from '../model/check.ts'

/** Returns a key of a push: equal for equal states, however their JSON is written. */
export function stateOf(body: string, orderBy: string): string {
  try {
    const push = parsePush(JSON.parse(body), { orderBy })
    return `${push.revision ?? ''} ${contentOf(push)}`
  } catch {
    // An invalid push is equal only by its text.
    return body
  }
}
