import { Errors, Flags } from '@oclif/core'
import { fromConfigFile } from '../config/defaults.ts'
import { CommandError, exitCodes } from '../failure.ts'
import { apiKeyFlag, envFileFlag, placeFlags, secretFromFileFlag, serviceNameFlag } from '../flags.ts'
import { rateLimitFlag } from '../rate-limit-flag.ts'
import { ORDER_BY, orderFieldIssue } from '../../model/revision.ts'

/** Between the first and the last year of which identifiers and texts sort by time. */
const clockFlag = Flags.custom<Date>({
  parse: async (input) => {
    const year = /^(\d{4})-\d\d-\d\d/.exec(input)?.[1] ?? ''
    if (year >= '1970' && year <= '9998' && !Number.isNaN(Date.parse(input))) return new Date(input)
    throw new Errors.CLIError(`${input} is no ISO 8601 time from 1970 to 9998, such as 2026-11-21T18:00:00Z.`)
  },
})

/** Node would listen on every address of the machine. */
const hostFlag = Flags.custom({
  parse: async (input) => {
    if (input !== '') return input
    throw new Errors.CLIError('--host is empty. Name an address to listen on, such as 127.0.0.1.')
  },
})

/** The field of a push that orders pushes. */
const orderByFlag = Flags.custom({
  parse: async (input) => {
    const issue = orderFieldIssue(input)
    if (issue === undefined) return input
    throw new Errors.CLIError(
      `--order-by must be a field of a push that orders pushes, such as updated_at, got ${JSON.stringify(input)}: ${issue}.`,
    )
  },
})

/** What `start` takes, from the command line, the environment and the settings file; `doctor` judges the same. */
export const startFlags = fromConfigFile({
  port: Flags.integer({ description: 'Port; 0 takes any free one.', min: 0, max: 65_535, default: 4100 }),
  host: hostFlag({ description: 'Address to listen on.', default: '127.0.0.1' }),
  ...placeFlags,
  'in-memory': Flags.boolean({ description: 'Keep nothing: all is gone when the service ends.' }),
  https: Flags.boolean({ description: 'Serve HTTPS, with a certificate of the local authority.' }),
  'api-key': apiKeyFlag({
    description: 'Accept this API key, with all scopes; otherwise one is made and kept.',
  }),
  'api-key-file': secretFromFileFlag('the API key to accept'),
  'service-name': serviceNameFlag,
  strict: Flags.boolean({ description: 'Refuse pushes with unknown fields.' }),
  'order-by': orderByFlag({
    description: 'Field of a push that orders pushes: an integer, or an ISO 8601 time.',
    default: ORDER_BY,
  }),
  'allow-http-loopback': Flags.boolean({
    description: 'Accept http: endpoints on loopback addresses, which the specification forbids.',
  }),
  cacert: Flags.string({
    description: "PEM file of an authority to trust for receivers' certificates.",
    multiple: true,
  }),
  insecure: Flags.boolean({ description: "Do not check receivers' certificates." }),
  'deny-private': Flags.boolean({ description: 'Refuse endpoints on loopback and private addresses.' }),
  'allowed-host': Flags.string({ description: 'Answer requests for this host name, too.', multiple: true }),
  'keep-events': Flags.integer({
    description: 'How many events are kept, with their deliveries; pending ones are kept beyond it.',
    min: 1,
    default: 10_000,
  }),
  'disable-after': Flags.integer({
    description: 'Failing deliveries in a row that disable an endpoint; 0 never does.',
    min: 0,
    default: 10,
  }),
  seed: Flags.integer({
    description: 'A run that can be repeated: all follows from this number, and the clock stands still.',
    min: 0,
  }),
  'rate-limit': rateLimitFlag({
    description: 'Requests to /v1 that each key may make: 10 or 10/s, 600/m, 5000/h. More are answered 429.',
  }),
  clock: clockFlag({ description: 'Where the clock of the service starts, ISO 8601; by default now.' }),
  'sign-time': Flags.string({
    description: 'Sign with real time, or with that of the clock, which correct receivers then reject.',
    options: ['real', 'virtual'],
    default: 'real',
  }),
  'env-file': envFileFlag,
  open: Flags.boolean({ description: 'Open the inspector in the browser.' }),
})

/** @throws CommandError (usage) for a seed over kept data. */
export function requireRepeatable(flags: { seed?: number | undefined; 'in-memory': boolean }): void {
  if (flags.seed === undefined || flags['in-memory']) return
  throw new CommandError(
    'usage',
    '--seed needs --in-memory: over kept data, the next start would make the same identifiers again.',
    exitCodes.usage,
  )
}
