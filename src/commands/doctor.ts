import { Flags, type Interfaces } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { parseTarget } from '../cli/listen/target.ts'
import { runningService, type RunningService } from '../cli/running-service.ts'
import type { DoctorFinding } from '../cli/doctor/finding.ts'
import { checkEnvironment } from '../cli/doctor/environment.ts'
import { exitCodes } from '../cli/errors.ts'
import { fromEnvironment, listed } from '../cli/flags.ts'
import { readCertificate } from '../cli/files/input.ts'
import { renderCheckUp } from '../cli/render/doctor.ts'
import { requireOneStore, requireRepeatable, startFlags } from '../cli/start/flags.ts'
import { isOpenToOthers } from '../model/url.ts'
import { createClockFile } from '../delivery/clock-file.ts'
import { createDestinationPolicy } from '../delivery/destination/policy.ts'
import { destinationOf } from '../delivery/destination/url.ts'
import { texts } from '../model/simulator/settings.ts'
import { tryPort } from '../http/listen.ts'
import { checkUp, repair, type CheckUp } from '../store/doctor/doctor.ts'

/** The flags of `start` that help shows here, too. */
const SHOWN: readonly string[] = [
  'port',
  'host',
  'config',
  'data-dir',
  'in-memory',
  'https',
  'cacert',
  'dotenv',
  'store',
  'sandbox',
  'store-key-file',
]

export default class Doctor extends BaseCommand {
  static override description =
    "Check this machine's setup; repair the data directory.\nChecks Node.js, the port, the clock, the local certificate authority and the data directory. With --receiver, also checks the connection to a receiver. With --store, also checks the database.\nAccepts the flags and settings of `start`. Exit 0 when no check fails, otherwise 3.\nA repair moves damaged files aside and deletes nothing."
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --receiver https://localhost:8443/webhooks   # DNS, connection, certificate, response',
    '<%= config.bin %> doctor --repair   # moves damaged files aside',
  ]
  static override flags = {
    ...withOthersHidden(startFlags),
    ...fromEnvironment({
      receiver: Flags.string({ description: 'Also check whether deliveries would reach this URL.' }),
      repair: Flags.boolean({ description: 'Repair the data directory; damaged files are moved aside.' }),
    }),
  }

  protected override readonly repairsModes = true

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    requireOneStore(flags)
    requireRepeatable(flags)
    const directory = flags['data-dir']
    const receiver = flags.receiver === undefined ? undefined : parseTarget(flags.receiver, '--receiver')
    const ca = await Promise.all(listed(flags.cacert ?? []).map(readCertificate))
    const found = flags.repair ? await repair(directory) : await checkUp(directory)
    const running = await runningService(directory)
    const clock = await clockFindings(directory)
    const kept = {
      ...found,
      checks: judged({ ...found, checks: [...found.checks, ...clock] }, running, flags),
    }
    // Only addresses are judged here: a start without --allow-http-loopback is a note.
    const { whyRefused: whyAddressRefused } = createDestinationPolicy({
      allowHttpLoopback: true,
      allowHttpHosts: receiver === undefined ? [] : [destinationOf(receiver).hostname],
      denyPrivate: flags['deny-private'] ?? isOpenToOthers(flags.store, flags.host),
      own: {},
    })
    const checking = checkEnvironment({
      directory,
      host: flags.host,
      port: flags.port,
      https: flags.https,
      tryPort,
      running,
      envFile: flags.dotenv,
      receiver,
      ca,
      insecure: flags.insecure,
      plainHttpHosts: listed(flags['allow-http-host'] ?? []),
      whyAddressRefused,
      now: new Date(),
    })
    const environment = await this.waiting('Checking…', checking)
    const database = flags.store === undefined ? [] : [await this.database({ ...flags, store: flags.store })]
    const checks = [...environment, ...database, ...kept.checks]
    const { repaired, repairable } = kept
    const result = { ok: checks.every(({ level }) => level !== 'bad'), checks, repaired, repairable }
    this.print(result, (columns) => renderCheckUp({ ...result, running: running?.url }, columns))
    if (flags.repair && flags.store !== undefined)
      this.say('--repair repairs files of the data directory only. The database was not changed.')
    if (!result.ok) process.exitCode = exitCodes.checkFailed
  }

  /** Checks the database of `--store`. Changes nothing in it. */
  private async database(flags: {
    store: string
    sandbox?: string | undefined
    'store-key'?: string | undefined
  }): Promise<DoctorFinding> {
    const { store: url, sandbox = texts.sandbox, 'store-key': storeKey } = flags
    // Loaded late: without `--store`, it is not needed.
    const { checkDatabase } = await import('../store/postgres/postgres-store.ts')
    const checking = checkDatabase({ url, sandbox, storeKey })
    const problem = await this.waiting('Checking the database…', checking)
    return problem === undefined
      ? {
          check: 'database',
          level: 'good',
          message: `The database answers, and a start can open the sandbox ${sandbox}.`,
        }
      : { check: 'database', level: 'bad', message: problem }
  }
}

/** Reports a clock file that a start cannot use. */
async function clockFindings(directory: string): Promise<CheckUp['checks']> {
  const stored = await createClockFile(directory).read()
  if (stored === undefined || !('unreadable' in stored)) return []
  const message = `${stored.unreadable} The clock starts as without the file: at real time, or at --clock. Restore the file to continue at its time.`
  return [{ check: 'clock.json', level: 'note', message }]
}

/**
 * Checks the data directory as a start would: a running service is fine, and `--in-memory` and `--store` do not
 * read its data, so that only damage is worth a note. HTTPS needs the directory in any case, for the local authority.
 */
function judged(
  { checks, holder }: Pick<CheckUp, 'checks' | 'holder'>,
  running: RunningService | undefined,
  flags: { 'in-memory': boolean; store?: string | undefined; https: boolean },
): CheckUp['checks'] {
  const isUnread = flags['in-memory'] || flags.store !== undefined
  return checks.flatMap((finding) => {
    const { check, level } = finding
    if (check === 'lock' && running !== undefined && holder === running.pid)
      return { check, level: 'good', message: `The running service (pid ${holder}) uses the data directory.` }
    // Without its own data, a start needs no directory.
    if (flags.store !== undefined && check === 'directory' && level === 'note') return []
    if (!isUnread || (check === 'directory' && flags.https)) return finding
    if (level === 'bad') return { ...finding, level: 'note' }
    return ['directory', 'modes'].includes(check) ? finding : []
  })
}

/** Accepts every flag of `start`, since each can make a start fail; help shows those that {@link SHOWN} lists. */
function withOthersHidden<T extends Interfaces.FlagInput>(flags: T): T {
  const entries = Object.entries(flags).map(([name, flag]) => [
    name,
    {
      ...flag,
      hidden: !SHOWN.includes(name),
      ...(name === 'dotenv' && { description: 'Also check whether `start` could write this .env file.' }),
    },
  ])
  return Object.fromEntries(entries) as T
}
