import { hostname } from 'node:os'
import { writeRun } from '../../data-directory.ts'
import { runningService } from '../running-service.ts'
import { exitCodes } from '../errors.ts'
import { isLoopbackName, isOpenToOthers } from '../../model/url.ts'
import type { SimulatorOptions } from '../../simulator-options.ts'
import { readCertificate } from '../files/input.ts'
import { listed } from '../flags.ts'
import type { StartFlags } from './flags.ts'

/** A running service, as commands need it. */
interface Running {
  url: string
  apiKey: string
  ca?: string | undefined
}

/**
 * Writes `run.json`, by which commands find the service, unless it names another service that answers. A pid alone proves
 * nothing: after a crash, another program may have it.
 */
export async function announce(
  { url, apiKey, ca }: Running,
  directory: string,
  inMemory: boolean,
): Promise<void> {
  const other = await runningService(directory)
  if (other !== undefined && other.pid !== process.pid && other.url !== url) return
  await writeRun(directory, {
    url,
    pid: process.pid,
    hostname: hostname(),
    started_at: new Date().toISOString(),
    ...(inMemory ? { api_key: apiKey } : {}),
    ...(ca === undefined ? {} : { ca }),
  })
}

/** Resolves `first` at the first signal; the second one ends the process at once. */
export function listenForSignals() {
  let resolve = () => {}
  let raised = false
  const first = new Promise<void>((settle) => (resolve = settle))
  const raise = () => {
    if (raised) process.exit(exitCodes.interrupted)
    raised = true
    resolve()
  }
  return { first, raise }
}

/** Returns warnings about options that are dangerous, or differ from the real service. */
export function warningsOf(flags: {
  host: string
  insecure: boolean
  'allow-http-loopback': boolean
  'deny-private'?: boolean
  seed?: number | undefined
  store?: string | undefined
}): string[] {
  return [
    isLoopbackName(flags.host)
      ? ''
      : `--host ${flags.host}: other machines can reach the service. Requests need an API key or a table address, and an allowed Host header.`,
    isOpenToOthers(flags.store, flags.host) && flags['deny-private'] === undefined
      ? `--deny-private is on, because --store and --host ${flags.host} serve other machines. Pass --no-deny-private for receivers on private addresses.`
      : '',
    flags.insecure
      ? "--insecure: receivers' certificates are not checked. Prefer `tabwire certs create` or --cacert."
      : '',
    flags['allow-http-loopback']
      ? '--allow-http-loopback: http: endpoints are accepted on loopback; the real service accepts HTTPS only.'
      : '',
    flags.seed === undefined
      ? ''
      : `--seed ${flags.seed}: secrets and keys are predictable, so use it for tests only. The clock is frozen; \`tabwire clock advance\` moves it.`,
  ].filter((warning) => warning !== '')
}

type StoreFlag = 'store' | 'sandbox' | 'store-key' | 'store-key-file'

/** Returns the options of the simulator for the flags of `start`. Reads the certificates of `--cacert`. */
export async function optionsOf(
  flags: Omit<StartFlags, 'dotenv' | 'open' | 'log' | StoreFlag> & Partial<Pick<StartFlags, StoreFlag>>,
): Promise<SimulatorOptions> {
  return {
    dataDir: flags['in-memory'] || flags.store !== undefined ? undefined : flags['data-dir'],
    store: flags.store,
    sandbox: flags.sandbox,
    storeKey: flags['store-key'],
    authorityDirectory: flags['data-dir'],
    host: flags.host,
    port: flags.port,
    https: flags.https,
    apiKey: flags['api-key'],
    serviceName: flags['service-name'],
    strict: flags.strict,
    orderBy: flags['order-by'],
    allowHttpLoopback: flags['allow-http-loopback'],
    allowHttpHost: listed(flags['allow-http-host'] ?? []),
    denyPrivate: flags['deny-private'],
    cacert: await Promise.all(listed(flags.cacert ?? []).map(readCertificate)),
    insecure: flags.insecure,
    publicUrl: flags['public-url'],
    allowedHost: listed(flags['allowed-host'] ?? []),
    disableAfter: flags['disable-after'],
    keepEvents: flags['keep-events'],
    rateLimit: flags['rate-limit'],
    clock: flags.clock,
    seed: flags.seed,
    signTime: flags['sign-time'],
    trace: flags.trace,
  }
}
