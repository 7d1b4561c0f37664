import { bareHost, isLoopbackName } from '../../model/url.ts'
import { signatureHeader } from '../../model/text/service-name.ts'
import { signingSecretPattern } from '../../model/webhook-endpoint.ts'
import { usageError } from '../errors.ts'
import { parseTarget, type Header, parseHeaders } from '../listen/target.ts'
import type { CheckIds } from '../../conformance/receiver/convergence/scenario.ts'
import type { StateCheck } from '../../conformance/receiver/convergence/judge.ts'
import { Flags } from '@oclif/core'
import { readCertificate } from '../files/input.ts'
import { fromEnvironment, listed } from '../flags.ts'
import { readFile } from 'node:fs/promises'
import { packageFile } from '../../package-file.ts'

/**
 * Parses the URL of the receiver to check. Deliveries go over HTTPS (specification section 2); plain HTTP is accepted
 * on this machine, for development.
 * @throws CommandError (usage) for any other URL.
 */
export function receiverUrl(text: string, name: string, headerFlag?: string): URL {
  const url = parseTarget(text, name, headerFlag)
  if (url.protocol === 'https:' || isLoopbackName(bareHost(url))) return url
  throw usageError(`${url.origin} uses plain HTTP, which is allowed only on this machine. Use https:.`)
}

/**
 * Returns the authorities that a receiver's certificate may have, besides those of the system: the `--cacert` files and the
 * local authority.
 * @throws CommandError when a file is unusable.
 */
export async function receiverAuthorities(
  local: string | undefined,
  files: readonly string[] = [],
): Promise<string[]> {
  const given = await Promise.all(listed(files).map(readCertificate))
  return local === undefined ? given : [...given, local]
}

/** @throws CommandError (usage) for headers that the check sets itself. */
export function requireSafeHeaders(headers: readonly Header[], serviceName: string): void {
  const own = [
    signatureHeader(serviceName),
    'content-type',
    'content-length',
    'connection',
    'transfer-encoding',
    'host',
  ]
  const taken = headers.find(([name]) => own.some((one) => one.toLowerCase() === name.toLowerCase()))
  if (taken !== undefined)
    throw usageError(`--add-header must not be ${taken[0]}, because the check sets it.`)
}

/** Flags that tell how to read the receiver's state. */
export const stateFlags = fromEnvironment({
  'state-url': Flags.string({
    description:
      'URL of the state of a check at the receiver; may contain {external_check_id} or {check_id}.',
  }),
  'state-header': Flags.string({
    description: "Header to send to --state-url: 'Name: value'.",
    multiple: true,
    multipleNonGreedy: true,
  }),
})

/** @throws CommandError (usage) for a secret that no endpoint of the service can have. The error does not repeat it. */
export function requireUsableSecret(secret: string): void {
  if (signingSecretPattern.test(secret)) return
  throw usageError(
    '--secret must be whsec_ and 43 letters, digits, hyphens or underscores, as the service makes it.',
  )
}

interface StateFlags {
  'state-url': string | undefined
  'state-header': string[] | undefined
  'state-ignore'?: string[] | undefined
  seed: number
}

/**
 * Returns how to read the receiver's state; `undefined` without `--state-url`. In the URL, `{external_check_id}` and
 * `{check_id}` stand for the identifiers of a check.
 * @throws CommandError (usage) for another placeholder, a URL that `receiver check` refuses, and a malformed header.
 */
export function stateCheck(
  asked: StateFlags,
  trust: Pick<StateCheck, 'ca' | 'insecure'>,
): StateCheck | undefined {
  const { 'state-url': text, 'state-header': lines, 'state-ignore': ignored = [], seed } = asked
  const headers = parseHeaders(lines, '--state-header')
  const ignore = listed(ignored)
  return text === undefined ? undefined : { ...stateUrl(text), ...trust, headers, ignore, seed }
}

/** Matches braces, also as shells and URL libraries encode them. */
const PLACEHOLDER = /(?:\{|%7B)(\w*)(?:\}|%7D)/gi

function stateUrl(text: string): Pick<StateCheck, 'urlOf' | 'isPerCheck'> {
  const names = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  const unknown = names.find((name) => name !== 'external_check_id' && name !== 'check_id')
  if (unknown !== undefined)
    throw usageError(
      `--state-url has the unknown placeholder {${unknown}}. Use {external_check_id} or {check_id}.`,
    )
  const urlOf = (ids: CheckIds) =>
    receiverUrl(
      text.replace(PLACEHOLDER, (_whole, name: keyof CheckIds) => encodeURIComponent(ids[name])),
      '--state-url',
      '--state-header',
    )
  urlOf({ check_id: 'a', external_check_id: 'a' })
  return { urlOf, isPerCheck: names.length > 0 }
}

/** Correct receivers, short enough to copy: the files of `fixtures/receivers`, by language. */
export const receiverExamples = {
  csharp: 'csharp.cs',
  go: 'go.go',
  java: 'java.java',
  node: 'node.mjs',
  php: 'php.php',
  python: 'python.py',
  ruby: 'ruby.rb',
} as const

export type ReceiverLanguage = keyof typeof receiverExamples

export const receiverLanguages = Object.keys(receiverExamples) as ReceiverLanguage[]

/** Returns the source text of a receiver that reads the signature header of this service. */
export async function readReceiverExample(language: ReceiverLanguage, serviceName: string): Promise<string> {
  const file = receiverExamples[language]
  const source = await readFile(packageFile(`fixtures/receivers/${file}`), 'utf8')
  const header = signatureHeader(serviceName)
  return source
    .replaceAll('X-Service-Signature', header)
    .replaceAll('x-service-signature', header.toLowerCase())
    .replaceAll('HTTP_X_SERVICE_SIGNATURE', `HTTP_${header.replaceAll('-', '_').toUpperCase()}`)
}
