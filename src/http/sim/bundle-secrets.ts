import type { Attempt, HttpHeader } from '../../model/delivery.ts'
import type { Bundle, SavedRequest } from '../../model/simulator/bundle.ts'
import type { State } from '../../model/simulator/state.ts'
import { MAX_URL_LENGTH } from '../../model/webhook-endpoint.ts'
import { hashOf } from '../auth/api-key.ts'
import { decodeValue, isRegistration, secretName, SHORTEST } from '../redact.ts'

/** A bundle, and a function that replaces the secrets in a part of it. */
interface Redacted {
  bundle: Bundle
  redact: <T>(part: T) => T
}

/**
 * Finds the secrets of a bundle: API keys, signing secrets, signatures, guests' hashes, credentials in the URLs of
 * endpoints, and cookies and credentials in response headers. Each secret has one replacement in the whole bundle, so that
 * relations stay visible. `apiKeys` are the keys that the service knows in plain text. The bundle may be long, so its parts
 * are redacted one by one.
 */
export function redacted(bundle: Bundle, apiKeys: readonly string[]): Redacted {
  const replacements = createReplacements()
  for (const key of apiKeys) replacements.add(key, 'twk')
  for (const { signing_secret } of bundle.state.endpoints) replacements.add(signing_secret, 'whsec')
  for (const url of urlsOf(bundle.state)) replacements.addUrl(url)
  const requests = bundle.log.requests.map((request) => withReplacedUrl(request, replacements.addUrl))
  const guest = <T extends { guest_hash?: string }>(record: T): T =>
    record.guest_hash === undefined
      ? record
      : { ...record, guest_hash: replacements.nameOf(record.guest_hash, 'guest') }
  const claims = bundle.state.claims.map(guest)
  const payments = bundle.state.payments.map(guest)
  const secretOf = (secret: string) => replacements.nameOf(secret, 'credential')
  const deliveries = bundle.state.deliveries.map((delivery) => ({
    ...delivery,
    attempts: delivery.attempts.map((attempt) => withoutHeaderSecrets(attempt, secretOf)),
  }))
  const known = replacements.inText()
  const inText = (text: string) =>
    text.length < SHORTEST ? text : inPatterns(known(text), replacements.nameOf)
  const changed = {
    state: { ...bundle.state, claims, payments, deliveries },
    log: { ...bundle.log, requests },
  }
  return { bundle: { ...bundle, ...changed }, redact: (part) => mapTexts(part, inText) }
}

type Kind = 'twk' | 'whsec' | 'guest' | 'signature' | 'credential' | 'url'

/** Replacements of secrets, numbered by kind in the order in which they are found. */
function createReplacements() {
  const names = new Map<string, string>()
  const counts = new Map<Kind, number>()
  /** Texts to replace, such as a secret in base64, by what they become. */
  const replaced = new Map<string, string>()

  function nameOf(secret: string, kind: Kind): string {
    const known = names.get(secret)
    if (known !== undefined) return known
    const number = (counts.get(kind) ?? 0) + 1
    counts.set(kind, number)
    const name = `${kind}_replaced_${number}`
    names.set(secret, name)
    return name
  }

  function add(secret: string, kind: Kind): void {
    const name = nameOf(secret, kind)
    if (secret.length < SHORTEST) return
    for (const form of formsOf(secret)) if (form.length >= SHORTEST) replaced.set(form, name)
    // The store has the hash of a key.
    if (kind === 'twk') replaced.set(hashOf(secret), name)
  }

  /** Adds the secrets of a URL. Returns the URL without them. */
  function addUrl(url: string): string {
    const { safe, secrets } = withoutUrlSecrets(url, (secret) => nameOf(secret, 'url'))
    if (safe === undefined) return url
    for (const part of secrets) {
      add(decodeValue(part), 'url')
      if (part.length >= SHORTEST) replaced.set(part, nameOf(decodeValue(part), 'url'))
    }
    replaced.set(url, safe)
    replaced.set(encodeURIComponent(url), encodeURIComponent(safe))
    // Receivers see only this part, and may repeat it.
    if (pathOf(url).length >= SHORTEST) replaced.set(pathOf(url), pathOf(safe))
    return safe
  }

  /** Returns a function that replaces all known secrets in a text. */
  function inText(): (text: string) => string {
    const forms = [...replaced.keys()].toSorted((one, other) => other.length - one.length)
    if (forms.length === 0) return (text) => text
    const any = new RegExp(forms.map(escaped).join('|'), 'g')
    return (text) => text.replace(any, (form) => replaced.get(form) ?? form)
  }

  return { add, addUrl, nameOf, inText }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** Returns the forms in which texts contain a secret: plain, in JSON and URLs, in hex, and within base64. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams({ s: secret }).toString().slice(2),
    bytes.toString('hex'),
    ...[0, 1, 2].flatMap((before) => base64Within(bytes, before)),
  ]
}

/**
 * Returns the characters of a base64 text that a secret alone decides. `before` is the number of bytes before it, modulo 3:
 * those of the user name in the credentials of Basic authentication.
 */
function base64Within(secret: Buffer, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), secret])
  const [first, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)]
  return (['base64', 'base64url'] as const).map((form) => bytes.toString(form).slice(first, end))
}

/** Secrets that no record names, in the texts of requests and responses. The group is the secret. */
const patterns: readonly { pattern: RegExp; kind: Kind; isSecret?: (text: string) => boolean }[] = [
  { pattern: /\b(twk_[\w-]{8,})/g, kind: 'twk' },
  // Other services have secrets in base64.
  { pattern: /\b(whsec_[\w+/-]{8,}=*)/g, kind: 'whsec' },
  { pattern: /\bv1=([0-9a-f]{64})\b/gi, kind: 'signature' },
  { pattern: /\bBearer\s+([\w.~+/-]{16,}=*)/gi, kind: 'credential', isSecret: isRandom },
  { pattern: /\bBasic\s+([\w+/-]{8,}=*)/gi, kind: 'credential', isSecret: isBasic },
  { pattern: /\b(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)/g, kind: 'credential' },
  { pattern: /\btabwire_session_\w+=([\w-]{16,})/g, kind: 'credential' },
  { pattern: /#link=([\w-]{16,})/g, kind: 'credential' },
  {
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----(.*?)-----END [A-Z ]*PRIVATE KEY-----/gs,
    kind: 'credential',
  },
]

/** Matches every text that one of the patterns may match. */
const mayMatch = /twk_|whsec_|v1=|bearer|basic|eyJ|tabwire_session_|#link=|PRIVATE KEY/i

function inPatterns(text: string, nameOf: (secret: string, kind: Kind) => string): string {
  if (!mayMatch.test(text)) return text
  let left = text
  for (const { pattern, kind, isSecret } of patterns)
    left = left.replace(pattern, (all, secret: string) =>
      /^[a-z]+_replaced_\d/.test(secret) || isSecret?.(secret) === false
        ? all
        : all.replace(secret, () => nameOf(secret, kind)),
    )
  return left
}

function isBasic(text: string): boolean {
  return /^[^\u0000-\u001f:]*:/.test(Buffer.from(text, 'base64').toString())
}

/** Returns true for a text that looks like a token: long, with letters and digits. */
function isRandom(text: string): boolean {
  return text.length >= 16 && /\d/.test(text) && /[a-z]/i.test(text)
}

function urlsOf({ endpoints, deliveries }: State): Set<string> {
  return new Set([
    ...endpoints.map(({ url }) => url),
    ...deliveries.flatMap(({ endpoint_url }) => endpoint_url ?? []),
  ])
}

/** Names of query parameters with secrets. Those of `sig` and `code` are in links of other services. */
const secretInLink = new RegExp(`${secretName.source}|sig|code`, 'i')

/**
 * Returns a URL without user name, password, values of the query, fragment and tokens in the path; `undefined` when it
 * has none. `secrets` are those of them that must not appear elsewhere either: a value such as `?tenant=bistro` may occur
 * in honest texts.
 */
function withoutUrlSecrets(url: string, nameOf: (secret: string) => string) {
  const secrets: string[] = []
  let isChanged = false
  const hide = (part: string, isSecret: boolean) => {
    isChanged = true
    if (isSecret) secrets.push(part)
    return nameOf(decodeValue(part))
  }
  if (!URL.canParse(url)) return { safe: undefined, secrets }
  const parsed = new URL(url)
  const { username, password, hash, origin } = parsed
  if (password !== '') secrets.push(`${username}:${password}`)
  if (username !== '') parsed.username = hide(username, password === '' || isToken(username))
  if (password !== '') parsed.password = hide(password, true)
  if (hash.length > 1) parsed.hash = hide(hash.slice(1), isToken(hash))
  parsed.pathname = parsed.pathname.replace(/[^/]+/g, (part) => (isToken(part) ? hide(part, true) : part))
  parsed.search = parsed.search
    .slice(1)
    .split('&')
    .map((parameter) => {
      const at = parameter.indexOf('=')
      const [name, value] = [parameter.slice(0, at + 1), parameter.slice(at + 1)]
      if (value === '' || (at === -1 && !isToken(value))) return parameter
      return (
        name + hide(value, at === -1 || secretInLink.test(decodeValue(name)) || isRandom(decodeValue(value)))
      )
    })
    .join('&')
  if (!isChanged) return { safe: undefined, secrets }
  const { href } = parsed
  return { safe: href.length <= MAX_URL_LENGTH ? href : `${origin}/${nameOf(url)}`, secrets }
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Returns true for a text that gives access by itself, such as the last part of the URL of an incoming webhook. */
function isToken(text: string): boolean {
  return text.length >= 20 && isRandom(text)
}

/** Names of response headers with cookies or credentials. */
const secretHeader = /cookie|key|token|secret|pass|pwd|auth|cred|session|signature|jwt/i

/** The error of a redirected attempt repeats the target. */
const redirected = /^(The receiver redirected \(\d+\) to )(.*)(\. Redirects are not followed\.)/s

/** Replaces secrets in the response headers of an attempt, and in the target of its redirect. */
function withoutHeaderSecrets(attempt: Attempt, nameOf: (secret: string) => string): Attempt {
  const { response_headers: headers } = attempt
  const error =
    attempt.error?.replace(
      redirected,
      (_all, before: string, target: string, after: string) => before + safeTarget(target, nameOf) + after,
    ) ?? null
  if (headers === undefined) return { ...attempt, error }
  return { ...attempt, error, response_headers: headers.map((header) => withoutSecret(header, nameOf)) }
}

function withoutSecret({ name, value }: HttpHeader, nameOf: (secret: string) => string): HttpHeader {
  if (/^location$/i.test(name)) return { name, value: safeTarget(value, nameOf) }
  if (value === '' || !secretHeader.test(name)) return { name, value }
  // The name and the attributes of a cookie are no secrets.
  const cookie = /^set-cookie2?$/i.test(name) ? /^([^=;]*=)([^;]+)(.*)$/s.exec(value) : null
  const [, start = '', secret = value, end = ''] = cookie ?? []
  return { name, value: start + nameOf(secret) + end }
}

/** Returns the target of a redirect without credentials; it may be relative. */
function safeTarget(value: string, nameOf: (secret: string) => string): string {
  const base = 'http://relative.invalid'
  if (!URL.canParse(value, base)) return nameOf(value)
  const { safe } = withoutUrlSecrets(new URL(value, base).href, nameOf)
  if (safe === undefined) return value
  return safe.startsWith(`${base}/`) ? safe.slice(base.length) : safe
}

/** Replaces the URL of a registration, which may be written in many ways: with escapes, or not normalized. */
function withReplacedUrl(request: SavedRequest, safeUrl: (url: string) => string): SavedRequest {
  const { request_body } = request
  if (request_body === null || !isRegistration(request)) return request
  try {
    const body = JSON.parse(request_body) as { url?: unknown } | null
    if (typeof body?.url !== 'string') return request
    const url = safeUrl(body.url)
    return url === body.url ? request : { ...request, request_body: JSON.stringify({ ...body, url }) }
  } catch {
    return request
  }
}

/** Returns a JSON value with other texts. Names of fields stay. */
function mapTexts<T>(value: T, map: (text: string) => string): T {
  if (typeof value === 'string') return map(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one: unknown) => mapTexts(one, map)) as T
  const entries = Object.entries(value).map(([name, one]) => [name, mapTexts<unknown>(one, map)])
  return Object.fromEntries(entries) as T
}
