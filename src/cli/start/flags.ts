import { Flags, type Interfaces } from '@oclif/core'
import { fromConfigFile } from '../config/defaults.ts'
import { usageError } from '../errors.ts'
import {
  apiKeyFlag,
  dotenvFlag,
  placeFlags,
  parsedBy,
  secretFromFileFlag,
  serviceNameFlag,
} from '../flags.ts'
import {
  readHost,
  readOrderBy,
  readRateLimit,
  readTime,
  signTimes,
  texts,
  wholeNumbers,
  type SignTime,
} from '../../model/simulator/settings.ts'

const clockFlag = Flags.custom({ parse: parsedBy(readTime) })
const hostFlag = Flags.custom({ parse: parsedBy(readHost) })
const orderByFlag = Flags.custom({ parse: parsedBy(readOrderBy) })
const rateLimitFlag = Flags.custom({ parse: parsedBy(readRateLimit) })

/** Flags of `start`, from the command line, the environment and the settings file; `doctor` checks the same ones. */
export const startFlags = fromConfigFile({
  port: Flags.integer({ description: 'Port; 0 takes any free one.', ...wholeNumbers.port }),
  host: hostFlag({ description: 'Address to listen on.', default: texts.host }),
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
    default: texts.orderBy,
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
    ...wholeNumbers.keepEvents,
  }),
  'disable-after': Flags.integer({
    description: 'Failing deliveries in a row that disable an endpoint; 0 never does.',
    ...wholeNumbers.disableAfter,
  }),
  seed: Flags.integer({
    description: 'A run that can be repeated: all follows from this number, and the clock stands still.',
    ...wholeNumbers.seed,
  }),
  'rate-limit': rateLimitFlag({
    description: 'Requests to /v1 that each key may make: 10 or 10/s, 600/m, 5000/h. More are answered 429.',
  }),
  clock: clockFlag({ description: 'Where the clock of the service starts, ISO 8601; by default now.' }),
  'sign-time': Flags.custom<SignTime>({
    description: 'Sign with real time, or with that of the clock, which correct receivers then reject.',
    options: [...signTimes],
    default: 'real',
  })(),
  dotenv: dotenvFlag,
  open: Flags.boolean({ description: 'Open the inspector in the browser.' }),
})

/** Values of {@link startFlags}. */
export type StartFlags = Interfaces.InferredFlags<typeof startFlags>

/** @throws CommandError (usage) for a seed with stored data. */
export function requireRepeatable(flags: { seed?: number | undefined; 'in-memory': boolean }): void {
  if (flags.seed === undefined || flags['in-memory']) return
  throw usageError(
    '--seed needs --in-memory: over kept data, the next start would make the same identifiers again.',
  )
}
