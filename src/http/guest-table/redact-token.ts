import type { RequestEntry } from '../request-context.ts'

/** Returns the entry without the secret token of a table's address: the log must not give access to the table. */
export function redactTableToken(entry: RequestEntry): RequestEntry {
  const token = /^(?:https?:\/\/[^/]*)?\/t\/[^/]*\/([^/?]+)/i.exec(entry.path)?.[1]
  if (token === undefined) return entry
  const hide = (text: string) => text.replaceAll(`/${token}`, '/…')
  return {
    ...entry,
    path: hide(entry.path),
    response_body: entry.response_body === null ? null : hide(entry.response_body),
  }
}
