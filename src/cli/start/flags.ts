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
  port: Flags.integer({ description: 'Port to listen on; 0 means any free port.', ...wholeNumbers.port }),
  host: hostFlag({ description: 'Address to listen on.', default: texts.host }),
  ...placeFlags,
  'in-memory': Flags.boolean({ description: 'Keep all data in memory; it is lost when the service stops.' }),
  https: Flags.boolean({ description: 'Serve HTTPS, with a certificate of the local authority.' }),
  'api-key': apiKeyFlag({
    description: 'API key to accept, with all scopes (default: a new key, stored).',
  }),
  'api-key-file': secretFromFileFlag('the API key to accept'),
  'service-name': serviceNameFlag,
  strict: Flags.boolean({ description: 'Refuse pushes with unknown fields.' }),
  'order-by': orderByFlag({
    description: 'Push field that orders pushes: an integer or an ISO 8601 time.',
    default: texts.orderBy,
  }),
  'allow-http-loopback': Flags.boolean({
    description: 'Accept http: endpoints on loopback addresses, which the specification forbids.',
  }),
  'allow-http-host': Flags.string({
    description: 'Also accept http: endpoints on this host, such as host.docker.internal from a container.',
    multiple: true,
  }),
  cacert: Flags.string({
    description: 'PEM file of a certificate authority to trust for receivers.',
    multiple: true,
  }),
  insecure: Flags.boolean({ description: 'Accept any certificate of a receiver.' }),
  'deny-private': Flags.boolean({ description: 'Refuse endpoints on loopback and private addresses.' }),
  'allowed-host': Flags.string({ description: 'Also answer requests for this host name.', multiple: true }),
  'keep-events': Flags.integer({
    description: 'Number of events to keep, with their deliveries; pending ones always stay.',
    ...wholeNumbers.keepEvents,
  }),
  'disable-after': Flags.integer({
    description: 'Failed deliveries in a row that disable an endpoint; 0 means never.',
    ...wholeNumbers.disableAfter,
  }),
  seed: Flags.integer({
    description: 'Seed for a reproducible run; freezes the clock.',
    ...wholeNumbers.seed,
  }),
  'rate-limit': rateLimitFlag({
    description: 'Rate limit of each key on /v1, such as 10/s, 600/m or 5000/h.',
  }),
  clock: clockFlag({ description: 'Start time of the service clock, ISO 8601 (default: now).' }),
  'sign-time': Flags.custom<SignTime>({
    description: 'Time in signatures: real, or virtual for that of the service clock.',
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
  throw usageError('--seed needs --in-memory. With stored data, the next start would repeat identifiers.')
}
