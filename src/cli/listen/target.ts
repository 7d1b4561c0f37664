import { eventTypes, type EventType } from '../../model/event.ts'
import { bareHost, isLoopbackName } from '../../model/url.ts'
import { checkConfig, CONFIG_FILE, readConfigFile } from '../config/file.ts'
import { requireTrusted } from '../config/settings.ts'
import { listenSchema } from '../config/schema.ts'
import { usageError } from '../errors.ts'

/** A receiver to which deliveries are forwarded. */
export interface ForwardTarget {
  to: URL
  events: readonly EventType[]
  /** Added to each delivery; they replace headers of the same name. */
  headers: readonly Header[]
}

/** A target with the URL of its endpoint. */
export interface ForwardRoute {
  url: string
  target: ForwardTarget
}

export type Header = readonly [name: string, value: string]

interface TargetFlags {
  'forward-to': string | undefined
  events: readonly EventType[] | undefined
  headers: readonly Header[]
  config: string | undefined
}

/**
 * Returns the targets of the command line, else of `listen.forward` in the settings file. Events and headers of the
 * command line take precedence.
 * @throws CommandError (usage) when neither names a target.
 */
export async function targetsOf(flags: TargetFlags): Promise<ForwardTarget[]> {
  const targets = await namedTargets(flags)
  const own = targets.flatMap(({ headers }) => headers).find(([name]) => FRAMING.test(name))
  if (own === undefined) return targets
  throw usageError(`The header ${own[0]} cannot be added, because it follows from each delivery.`)
}

/** Headers that tell where a body ends. */
const FRAMING = /^(content-length|transfer-encoding|connection)$/i

async function namedTargets({ events, headers, config, ...flags }: TargetFlags): Promise<ForwardTarget[]> {
  const to = flags['forward-to']
  if (to !== undefined)
    return [{ to: parseTarget(to, '--forward-to', '--add-header'), events: events ?? eventTypes, headers }]
  const file = await readConfigFile(config)
  if (file?.content.listen === undefined) throw usageError(missingTargetText(file?.path))
  const { forward } = checkConfig(file, listenSchema, file.content.listen, 'listen')
  const targets = forward.map(({ to: text, ...entry }) => ({
    ...entry,
    to: parseTarget(text, `${file.path}: listen.forward.to`, '--add-header'),
  }))
  const foreign = targets.filter((entry) => !isLoopbackName(bareHost(entry.to)))
  if (foreign.length > 0)
    await requireTrusted(
      file,
      foreign.map((entry) => `listen.forward to ${entry.to.host}`),
    )
  return targets.map((entry) => ({
    to: entry.to,
    events: events ?? entry.events ?? eventTypes,
    headers: [...headersOf(entry.headers, headers, `${file.path}: listen.forward.headers`), ...headers],
  }))
}

/** Returns the headers of the settings file that the command line does not replace. */
function headersOf(
  given: Readonly<Record<string, string>> = {},
  typed: readonly Header[],
  name: string,
): Header[] {
  const replaced = new Set(typed.map(([typedName]) => typedName.toLowerCase()))
  return Object.entries(given)
    .map(([header, value]) => parseHeader(`${header}: ${value}`, name))
    .filter(([header]) => !replaced.has(header.toLowerCase()))
}

/**
 * Parses a target. `3000`, `3000/hooks` and `localhost:3000/hooks` mean plain HTTP on this machine. An error names
 * `headerFlag`, the command's flag for headers, if it has one.
 * @throws CommandError (usage) for another scheme, a password, and a single word, which is more likely a mistake than a
 * host.
 */
export function parseTarget(text: string, name = '--forward-to', headerFlag?: string): URL {
  // A URL parser would read a bare number as an IP address.
  const whole = text.replace(/^\d+(?=\/|$)/, 'localhost:$&')
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(whole) ? whole : `http://${whole}`
  const target = URL.canParse(url) ? new URL(url) : undefined
  const [word] = /^(?!localhost$)[a-z][a-z0-9_-]*$/i.exec(whole.replace(/\/.*/s, '')) ?? []
  if (target === undefined || !/^https?:$/.test(target.protocol) || word !== undefined)
    throw usageError(
      `${name} must be an http: or https: URL such as ${EXAMPLE}, got ${JSON.stringify(text)}.${word === undefined ? '' : ` For a host of this name, pass its scheme, too: ${url} or ${url.replace('http:', 'https:')}`}`,
    )
  if (target.username !== '' || target.password !== '')
    throw usageError(
      `${name} must not contain a password, because the URL is printed. ${headerFlag === undefined ? 'Remove it.' : `Pass ${headerFlag} 'Authorization: …' instead.`}`,
    )
  return target
}

/**
 * Parses the headers of a repeatable flag. In its environment variable each line is a header, because values may have
 * commas. Errors name `flag`.
 * @throws CommandError (usage) for a malformed header.
 */
export function parseHeaders(values: string | readonly string[] = [], flag?: string): Header[] {
  const lines = typeof values === 'string' ? values.split(/\r?\n/) : values
  return lines.filter((line) => line !== '').map((line) => parseHeader(line, flag))
}

/** Parses `Name: value`, as for curl. Errors name `flag`. */
export function parseHeader(text: string, flag = '--add-header'): Header {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  // The text can be a credential.
  throw usageError(`${flag} must be a header such as 'Name: value'.`)
}

const EXAMPLE = 'http://localhost:3000/webhooks'

function missingTargetText(path: string | undefined): string {
  const file = path === undefined ? `no ${CONFIG_FILE} here` : `${path} has no listen.forward`
  return `--forward-to is missing (${file}). Example: tabwire listen --forward-to ${EXAMPLE}`
}
