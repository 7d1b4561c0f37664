import { secretForm } from '../model/api-key.ts'
import type { RequestEntry } from './request-context.ts'

const HIDDEN = '…'

/** Names of query parameters with secrets: keys belong in a header, but some clients send them in the query. */
export const secretName = /key|token|secret|pass|pwd|auth|access|cred|session|signature|bearer|jwt/i

/**
 * Returns an entry of the request log without secrets. These are the token of a table's address, keys in the query, and
 * credentials in the URL of a refused registration. Texts in the form of a key or signing secret are secrets, too. Entries
 * are redacted before they are stored, so neither log nor stream contain secrets.
 */
export function withoutSecrets(entry: RequestEntry): RequestEntry {
  const secrets: string[] = []
  const path = withoutKeys(entry.path, secrets)
  const body =
    entry.status >= 400 && isRegistration(entry)
      ? withoutCredentials(entry.request_body, secrets)
      : entry.request_body
  const [request_body, response_body] = [hidden(body, secrets), hidden(entry.response_body, secrets)]
  if (path === entry.path && request_body === entry.request_body && response_body === entry.response_body)
    return entry
  return { ...entry, path, request_body, response_body }
}

/** The token of a table's address: the log must not give access to the table. */
const tableToken = /^((?:https?:\/\/[^/]*)?\/t\/[^/]*\/)([^/?]+)/i

/** Adds the removed values to `secrets`. */
function withoutKeys(whole: string, secrets: string[]): string {
  const path = whole.replace(tableToken, (_path, page: string, token: string) => {
    secrets.push(token)
    return `${page}${HIDDEN}`
  })
  const start = path.indexOf('?')
  if (start === -1) return path.replace(secretForm, `$1${HIDDEN}`)
  const parameters = path.slice(start + 1).split(/([&;])/)
  const query = parameters.map((parameter) => withoutValue(parameter, secrets)).join('')
  return `${path.slice(0, start)}?${query}`.replace(secretForm, `$1${HIDDEN}`)
}

function withoutValue(parameter: string, secrets: string[]): string {
  const [name = '', ...rest] = parameter.split('=')
  const value = rest.join('=')
  const decoded = decodeValue(value)
  const isSecret =
    secretName.test(decodeValue(name)) || decoded.search(secretForm) !== -1 || /^Bearer /i.test(decoded)
  if (value === '' || !isSecret) return parameter
  secrets.push(value, decoded)
  return `${name}=${HIDDEN}`
}

/** Decodes a query value; returns a malformed one unchanged. */
export function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Returns true for the registration of a webhook endpoint. */
export function isRegistration({ method, path }: Pick<RequestEntry, 'method' | 'path'>): boolean {
  return method === 'POST' && /^\/v1\/webhook-endpoints\/?(\?|$)/.test(path)
}

/** Returns the JSON body without user names and passwords in URLs. */
function withoutCredentials(body: string | null, secrets: string[]): string | null {
  if (body === null || !/@|\\u0040/i.test(body)) return body
  const hide = (_key: string, value: unknown) =>
    typeof value === 'string' ? withoutUserInfo(value, secrets) : value
  try {
    return JSON.stringify(JSON.parse(body), hide)
  } catch {
    // Not JSON, or nested too deeply: all before the last `@` may be user info.
    return body.replace(/^.*(@|\\u0040)/is, `${HIDDEN}@`)
  }
}

/** Hides all text before the last `@`, because a refused URL may be any text. Keeps a URL without user info. */
function withoutUserInfo(text: string, secrets: string[]): string {
  const [whole, scheme = '', userInfo = ''] = /^(\s*[a-z][a-z0-9+.-]*:[\\/]*)?(.*)@/is.exec(text) ?? []
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain =
    url?.username === '' && url.password === '' && !/^[^/?#\\]*@/.test(text.slice(scheme.length))
  if (whole === undefined || isPlain) return text
  secrets.push(userInfo, ...userInfo.split(':'))
  return `${scheme}${HIDDEN}@${text.slice(whole.length)}`
}

/** Shortest secret that is replaced elsewhere in a text, because shorter texts can occur by coincidence. */
export const SHORTEST = 8

/** Returns a text without these secrets, and without keys and signing secrets of the service. */
function hidden(text: string | null, secrets: readonly string[]): string | null {
  if (text === null) return null
  const long = secrets.filter(({ length }) => length >= SHORTEST)
  const hide = (part: string) => long.reduce((left, secret) => left.replaceAll(secret, HIDDEN), part)
  const without = long.length > 0 ? changeText(text, hide) : text
  return /twk_|whsec_/.test(without) ? without.replace(secretForm, `$1${HIDDEN}`) : without
}

/**
 * Changes the strings and numbers of a JSON text, which stays JSON: a changed number becomes a string. Changes other text as a
 * whole.
 */
function changeText(text: string, change: (part: string) => string): string {
  try {
    JSON.parse(text)
    return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (scalar) => {
      const value = String(JSON.parse(scalar))
      const changed = change(value)
      return changed === value ? scalar : JSON.stringify(changed)
    })
  } catch {
    // Not JSON, or with a string that is too long for the pattern.
    return change(text)
  }
}

/** Returns the path of a URL or path, without its query and without secrets. */
export function pathWithoutSecrets(url: string): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/, 1)
  return path.replace(tableToken, `$1${HIDDEN}`).replace(secretForm, `$1${HIDDEN}`)
}
