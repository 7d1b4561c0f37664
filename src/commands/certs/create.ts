import { makeDirectories } from '../../replace-file.ts'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { isLimited } from '../../cli/doctor/authority.ts'
import { CommandError, usageError } from '../../cli/errors.ts'
import { fromEnvironment, jsonFlag, placeFlags } from '../../cli/flags.ts'
import { prepareDataDirectory } from '../../cli/trust/made-here.ts'
import { renderFields } from '../../cli/render/layout.ts'
import { writePrivateFile } from '../../private-file.ts'

export default class CertsCreate extends BaseCommand {
  static override description =
    'Issue a certificate for your own HTTPS receiver.\nThe local certificate authority in the data directory issues it, and the service trusts that authority.\nWrites HOST.pem and HOST-key.pem, named after the first host. The certificate is valid for 397 days.'
  static override examples = [
    '<%= config.bin %> certs create localhost',
    '<%= config.bin %> certs create receiver.test 127.0.0.1 --out certs',
  ]
  static override strict = false
  static override baseFlags = jsonFlag
  static override args = {
    host: Args.string({
      ignoreStdin: true,
      description: 'Host names or IP addresses of the receiver.',
      required: true,
    }),
  }
  static override flags = fromEnvironment({
    out: Flags.string({ description: 'Output directory.', default: '.' }),
    force: Flags.boolean({ description: 'Replace files that Tabwire did not write.' }),
    ...placeFlags,
  })

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(CertsCreate)
    const hosts = argv as string[]
    const name = join(flags.out, (hosts[0] ?? 'localhost').replace(/[^\w.-]/g, '_'))
    const files = { cert: `${name}.pem`, key: `${name}-key.pem`, ca: join(flags['data-dir'], 'ca', 'ca.pem') }
    if (!flags.force) await requireReplaceable(files)
    const { openAuthority, requireHosts } = await import('../../certificates/authority.ts')
    try {
      requireHosts(hosts)
    } catch (error) {
      wrongHost(error)
    }
    await prepareDataDirectory(flags['data-dir'])
    const authority = await openAuthority(flags['data-dir'], hosts)
    const { cert, key } = await authority.issue(hosts).catch(wrongHost)
    await writeBoth(files, cert, key, flags.out)
    this.print(files, () =>
      renderFields([
        ['certificate', files.cert],
        ['key', files.key],
        ['authority', files.ca],
        ['', limitsOf(authority.certificatePem, files.ca)],
      ]),
    )
  }
}

function wrongHost(error: unknown): never {
  throw error instanceof TypeError ? usageError(error.message.replace(/^A host /, 'HOST ')) : error
}

/** Says which hosts an authority may certify, and its last day. Older authorities are not limited. */
function limitsOf(pem: string, file: string): string {
  const certificate = new X509Certificate(pem)
  const until = new Date(certificate.validTo).toISOString().slice(0, 10)
  return isLimited(certificate)
    ? `This authority can certify hosts of this machine, of local networks, and those it was created for. It expires on ${until}.`
    : `This authority can certify any host. It expires on ${until}. Remove ${dirname(file)} to create one for local hosts only.`
}

/** Other programs use the same names, such as `localhost.pem`. @throws CommandError for files that Tabwire did not write. */
async function requireReplaceable({ cert, key }: { cert: string; key: string }): Promise<void> {
  const read = (file: string) => readFile(file, 'utf8').catch(() => undefined)
  const [certificate, privateKey] = await Promise.all([read(cert), read(key)])
  if ((certificate ?? privateKey) === undefined || isOwn(certificate ?? '')) return
  throw new CommandError(
    'file_differs',
    `${certificate === undefined ? key : cert} exists, and Tabwire did not write it. Choose another directory with --out, or pass --force.`,
  )
}

function isOwn(certificate: string): boolean {
  try {
    return /^O=Tabwire$/m.test(new X509Certificate(certificate).issuer)
  } catch {
    return false
  }
}

async function writeBoth(files: { cert: string; key: string }, cert: string, key: string, directory: string) {
  try {
    await makeDirectories(directory)
    await writePrivateFile(files.cert, cert, { mode: 0o644 })
    await writePrivateFile(files.key, key)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError(
      'unwritable_file',
      `--out: cannot write to ${directory} (${code}). Choose another directory.`,
    )
  }
}
