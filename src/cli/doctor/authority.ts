import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { authorityFile } from '../../data-directory.ts'
import { formatTime } from '../../model/text/time.ts'
import { finding, type DoctorFinding, type Environment } from './finding.ts'

/** Checks the local authority, which issues certificates for receivers on this machine (contract section 10). */
export async function checkAuthority({ directory, https, now }: Environment): Promise<DoctorFinding> {
  const folder = join(directory, 'ca')
  const [cert, key] = await Promise.all(['ca.pem', 'ca-key.pem'].map((name) => read(join(folder, name))))
  // Without HTTPS a start does not need it; only deliveries to receivers with its certificates fail.
  const unusable = https ? 'bad' : 'note'
  if (cert === undefined && key === undefined) {
    if (!(await isVacant(folder)))
      return finding('authority', unusable, `${folder} contains no local authority.`, RENEW)
    return finding(
      'authority',
      'good',
      'There is no local authority yet. It is created when it is first needed.',
    )
  }
  const certificate = pairOf(cert, key)
  if (certificate === undefined)
    return finding(
      'authority',
      unusable,
      `The local authority in ${folder} is damaged, or its key and certificate do not match.`,
      RENEW,
    )
  const until = new Date(certificate.validTo)
  if (until <= now)
    return finding(
      'authority',
      'note',
      `The local authority expired on ${formatTime(until.toISOString())} UTC.`,
      RENEW,
    )
  if (await othersMayRead(join(folder, 'ca-key.pem')))
    return finding('authority', 'note', 'Other users can read the key of the local authority.', REPAIR)
  const last = until.toISOString().slice(0, 10)
  if (!isLimited(certificate))
    return finding(
      'authority',
      'note',
      `An early version created the local authority in ${folder}, so it can certify any host. It is valid until ${last}.`,
      RENEW,
    )
  return finding('authority', 'good', `The local authority is valid until ${last}.`)
}

/** DER of the identifier of name constraints. */
const NAME_CONSTRAINTS = Buffer.from('0603551d1e', 'hex')

/** Returns true when an authority can certify local hosts only. Those of early versions have no limits. */
export function isLimited({ raw }: X509Certificate): boolean {
  return raw.includes(NAME_CONSTRAINTS)
}

const RENEW =
  'Remove that folder to create a new authority. Then issue new certificates with `tabwire certs create`.'
const REPAIR = 'Run `tabwire doctor --repair`. Anyone with the key can impersonate a receiver.'

function read(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined)
}

/** Returns true when the folder is missing or empty, so that an authority can be created in it. */
async function isVacant(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

function pairOf(cert = '', key = ''): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(cert)
    return certificate.checkPrivateKey(createPrivateKey(key)) ? certificate : undefined
  } catch {
    return undefined
  }
}

/** Windows has no file modes. */
async function othersMayRead(file: string): Promise<boolean> {
  return platform() !== 'win32' && ((await stat(file)).mode & 0o077) !== 0
}

/** Returns the certificate of the local authority, which deliveries trust; an empty list when there is none. */
export async function localAuthority(directory: string): Promise<string[]> {
  return readFile(authorityFile(directory), 'utf8').then(
    (pem) => [pem],
    () => [],
  )
}
