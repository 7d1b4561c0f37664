import { Errors, Flags, Args } from '@oclif/core'
import { DEFAULT_DATA_DIRECTORY } from '../data-directory.ts'
import { eventTypes, type EventType } from '../model/event.ts'
import { readApiKey, readServiceName, texts, type Reader } from '../model/simulator/settings.ts'
import type { CallOptions } from '../client.ts'
import { dataDirectoryOf, serviceNameIn } from './config/settings.ts'
import { didYouMeanSentence } from '../model/text/advice.ts'
import { variableOf } from '../model/text/shell-command.ts'
import { localTimeIssue, parseTime } from '../model/text/time.ts'

/** Gives every flag its environment variable (contract section 12). */
export function fromEnvironment<T extends Record<string, { env?: string }>>(flags: T): T {
  for (const [name, flag] of Object.entries(flags)) flag.env ??= variableOf(name)
  return flags
}

/** Returns the values of a repeatable flag. From the environment, oclif passes them as one text with commas. */
export function listed(values: string | readonly string[]): string[] {
  return typeof values === 'string' ? values.split(',').map((value) => value.trim()) : [...values]
}

/**
 * Returns the text of a repeatable flag when all its values are known.
 * @throws CLIError that names the unknown ones.
 */
export function requireAll(text: string, known: readonly string[]): string {
  const unknown = listed(text).filter((word) => !known.includes(word))
  if (unknown.length === 0) return text
  throw new Errors.CLIError(
    `must be one or more of ${known.join(', ')}, got ${JSON.stringify(unknown.join(', '))}.${didYouMeanSentence(unknown[0] ?? '', known)}`,
  )
}

/** Returns the values of a repeatable flag that may also have several values with commas between them. */
export function splitAtCommas(values: string | readonly string[]): string[] {
  return [values].flat().flatMap((text) => text.split(',').map((value) => value.trim()))
}

/** Parses a flag by the function that also reads the library's option and the key of the settings file. */
export function parsedBy<T>(read: Reader<T>): (input: string) => Promise<T> {
  return async (input) => {
    const { value, issue } = read(input)
    if (issue === undefined) return value
    throw new Errors.CLIError(`${issue}.`)
  }
}

export const jsonFlag = fromEnvironment({
  json: Flags.boolean({
    description: 'Print JSON; streams print one JSON object per line.',
    helpGroup: 'GLOBAL',
  }),
})

/**
 * Returns the event types of `--events`; `all` means every one.
 * @throws CLIError that names the first unknown type.
 */
export function chosenEvents(events: string | readonly string[]): EventType[] {
  const names = listed(events)
  const unknown = names.find((name) => name !== 'all' && !eventTypes.some((type) => type === name))
  if (unknown !== undefined)
    throw new Errors.CLIError(
      `--events must be event types or all, got ${JSON.stringify(unknown)}.${didYouMeanSentence(unknown, eventTypes)} Event types: ${eventTypes.join(', ')}.`,
    )
  return names.includes('all') ? [...eventTypes] : (names as EventType[])
}

/** An API key. The error does not repeat the value: it may be a key with a typing mistake. */
export const apiKeyFlag = Flags.custom({ parse: parsedBy(readApiKey) })

/** A file with a secret: other users of the machine can see command lines, but not the file. */
export const secretFromFileFlag = (what: string, helpGroup?: string) =>
  Flags.string({
    description: `File that contains ${what}; keeps it out of the process list.`,
    ...(helpGroup !== undefined && { helpGroup }),
  })

/** Flags for the settings file and the data directory. */
export const placeFlags = fromEnvironment({
  config: Flags.string({
    description: 'Settings file (default: tabwire.config.json, if it exists).',
    helpGroup: 'CONNECTION',
  }),
  'data-dir': Flags.string({
    description: 'Data directory of the service.',
    default: async ({ flags }) => dataDirectoryOf(flags.config),
    defaultHelp: async () => DEFAULT_DATA_DIRECTORY,
    helpGroup: 'CONNECTION',
  }),
})

/** Time limit of commands that change the clock or the state. */
export const timeoutFlag = fromEnvironment({
  timeout: Flags.integer({
    description: 'Time limit in seconds, 1 to 86,400 (default: none).',
    min: 1,
    max: 86_400,
  }),
})

/** Converts the flag to the option of a client's call. */
export function limitOf({ timeout }: { timeout: number | undefined }): CallOptions {
  return timeout === undefined ? {} : { timeout: timeout * 1_000 }
}

/** Flag for a profile of the settings file: {@link BaseCommand} makes environment variables of it. */
export const profileFlag = fromEnvironment({
  profile: Flags.string({
    description: 'Profile of tabwire.config.json to use: URL, key, service name and authority.',
    helpGroup: 'CONNECTION',
  }),
})

/** Flags that locate the service. */
export const connectionFlags = fromEnvironment({
  ...placeFlags,
  ...profileFlag,
  url: Flags.string({
    description: 'URL of the service (default: the service that runs here).',
    helpGroup: 'CONNECTION',
  }),
  'api-key': apiKeyFlag({
    description: 'API key (default: the one in the data directory).',
    helpGroup: 'CONNECTION',
  }),
  'api-key-file': secretFromFileFlag('the API key', 'CONNECTION'),
  cacert: Flags.string({
    description: "PEM file of an authority to trust for the service's certificate.",
    helpGroup: 'CONNECTION',
  }),
})

/**
 * Makes a flag that names the `.env` file of the application under test. Its former name, `--env-file`, still works when
 * the file exists: Node reads that flag itself, wherever it stands, and exits when the file is missing (nodejs/node#54232).
 */
const envFileFlag = (description: string) => Flags.string({ description, aliases: ['env-file'] })

/** Flag of commands that register endpoints. */
export const dotenvFlag = envFileFlag(
  'Write TABWIRE_ENDPOINT_ID and TABWIRE_SIGNING_SECRET to this .env file; other lines are kept.',
)

/** Flag of `start`. */
export const serviceDotenvFlag = envFileFlag(
  'Write TABWIRE_URL, TABWIRE_BASE_URL and TABWIRE_API_KEY to this .env file; other lines are kept.',
)

/** Flag of commands that forward deliveries. */
export const fetchDeliveriesFlag = Flags.boolean({
  description:
    'Fetch deliveries from the service, for a service that cannot reach this machine (default: unless it runs here on the same data directory).',
  allowNo: true,
})

/** Flags for the page of a list. */
export const listFlags = fromEnvironment({
  limit: Flags.integer({
    description: 'Maximum number of results, 1 to 100.',
    min: 1,
    max: 100,
    default: 20,
  }),
  cursor: Flags.string({ description: 'Continue after this cursor, the next_cursor of the previous page.' }),
})

/** Unix time in whole seconds, or an ISO 8601 time. */
export const timeFlag = Flags.custom<Date>({
  parse: async (input) => {
    const time = /^\d+$/.test(input) ? new Date(Number(input) * 1000) : parseTime(input)
    if (time !== undefined && !Number.isNaN(time.getTime())) return time
    const issue = `must be Unix seconds or an ISO 8601 time, got ${JSON.stringify(input)}`
    throw new Errors.CLIError(`${localTimeIssue(input) ?? issue}.`)
  },
})

/** Name of the service that is started. The whole name of the signature header is accepted, too. */
export const serviceNameFlag = Flags.string({
  description: 'Name in the signature header, X-<name>-Signature: 1 to 64 letters, digits and hyphens.',
  default: texts.serviceName,
  parse: parsedBy(readServiceName),
})

/** Name of the service that a command uses: from the command line, the environment or the settings file. */
export const knownServiceNameFlag = Flags.custom<string | undefined>({
  description: 'Name in the signature header, X-<name>-Signature (default: that of the running service).',
  parse: serviceNameFlag.parse,
  default: async ({ flags }) => serviceNameIn(flags.config),
  defaultHelp: async () => undefined,
})

/** An absolute `http:` or `https:` URL. The service decides on plain HTTP. */
export const httpUrlArg = Args.custom({
  parse: async (input) => requireUrl(input, 'URL ', 'http: or https:'),
})

/** Flag for an absolute `http:` or `https:` URL; errors follow the flag's name. */
export const httpUrlFlag = Flags.custom({ parse: async (input) => requireUrl(input, '', 'http: or https:') })

/** Flag for an absolute `https:` URL. */
export const httpsUrlFlag = Flags.custom({ parse: async (input) => requireUrl(input, '', 'https:') })

/** A file to write. `-` is not the standard output here, and would be a file of that name. */
export const outputFileFlag = Flags.custom({
  parse: async (input) => {
    if (input !== '' && input !== '-') return input
    throw new Errors.CLIError(`must be a file, got ${JSON.stringify(input)}.`)
  },
})

/** Flag of every command whose report can also be JUnit XML. */
export const junitFlag = outputFileFlag({
  description: 'Also write the report to this file, as JUnit XML.',
})

/** Flag of every command whose report can also be TAP. */
export const tapFlag = Flags.boolean({ description: 'Print the report as TAP 14.', exclusive: ['json'] })

function requireUrl(input: string, name: string, wanted: 'http: or https:' | 'https:'): string {
  const start = wanted === 'https:' ? /^https:\/\//i : /^https?:\/\//i
  if (start.test(input) && URL.canParse(input)) return input
  const meant = `https://${input}`
  const hint = /^[\w.-]+(:\d+)?(\/.*)?$/.test(input) && URL.canParse(meant) ? ` Did you mean ${meant}?` : ''
  throw new Errors.CLIError(`${name}must be an ${wanted} URL, got ${JSON.stringify(input)}.${hint}`)
}
