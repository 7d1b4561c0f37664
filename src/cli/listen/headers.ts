import type { Header } from './target.ts'

/** What belongs to one connection and not to the message on it (RFC 9110 section 7.6.1), and what Node answers itself. */
const hopByHop = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * The headers of a message for the next hop: names and values in turn, as they were written, in their order. The headers
 * of the user go in the place of those of the same name, and `Host` is left to the sender of the request.
 */
export function passedOn(raw: readonly string[], replacing: readonly Header[] = []): string[] {
  const headers = pairs(raw)
  const named = headers.filter(([name]) => lower(name) === 'connection')
  const dropped = new Set([
    ...hopByHop,
    ...named.flatMap(([, value]) => value.split(',').map((name) => lower(name.trim()))),
    ...replacing.map(([name]) => lower(name)),
    'host',
  ])
  return [...headers.filter(([name]) => !dropped.has(lower(name))), ...replacing].flat()
}

function pairs(raw: readonly string[]): Header[] {
  return raw.flatMap((name, index): Header[] => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
}

function lower(name: string): string {
  return name.toLowerCase()
}
