import type { RequestEntry } from './request-entry.ts'

/** The same entry without the secret part of a table's address, so that the log lets nobody sit down at the table. */
export function withoutTableToken(entry: RequestEntry): RequestEntry {
  const token = /^(?:https?:\/\/[^/]*)?\/t\/[^/]*\/([^/?]+)/i.exec(entry.path)?.[1]
  if (token === undefined) return entry
  const hide = (text: string) => text.replaceAll(`/${token}`, '/…')
  return {
    ...entry,
    path: hide(entry.path),
    response_body: entry.response_body === null ? null : hide(entry.response_body),
  }
}
