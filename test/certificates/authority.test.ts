import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectMode } from '../support/file-mode.ts'
import { isInstalled } from '../support/programs.ts'
import { createAuthority, openAuthority, readAuthorityCertificate } from '../../src/certificates/authority.ts'

const run = promisify(execFile)
const DAY = 24 * 60 * 60 * 1000

const opensslIsHere = isInstalled('openssl', 'version')

describe('certificates', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tabwire-certificates-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  it.skipIf(!opensslIsHere)('of a local authority pass openssl verify -x509_strict', async () => {
    const authority = await openAuthority(directory)
    const { cert } = await authority.issue(['localhost', '127.0.0.1', '::1'])
    const file = join(directory, 'server.pem')
    await writeFile(file, cert)
    const ca = join(directory, 'ca', 'ca.pem')
    const strict = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca]
    for (const host of [
      ['-verify_hostname', 'localhost'],
      ['-verify_ip', '127.0.0.1'],
      ['-verify_ip', '::1'],
    ])
      expect((await run('openssl', [...strict, ...host, file])).stdout).toContain('OK')
  })

  it('last 397 days for a server and 825 days for an authority, and start one day in the past', async () => {
    const authority = await createAuthority()
    const server = new X509Certificate((await authority.issue(['localhost'])).cert)
    const root = new X509Certificate(authority.certificatePem)
    expect(Date.parse(server.validTo) - Date.parse(server.validFrom)).toBe(397 * DAY)
    expect(Date.parse(root.validTo) - Date.parse(root.validFrom)).toBe(825 * DAY)
    expect(Date.now() - Date.parse(server.validFrom)).toBeGreaterThanOrEqual(DAY)
  })

  it.skipIf(!opensslIsHere)(
    'of an authority are accepted only for local and named hosts, whatever its key signs',
    async () => {
      const { makeAuthority, issueCertificate } = await import('../../src/certificates/issue.ts')
      const authority = await makeAuthority(['app', '203.0.113.7'])
      const ca = join(directory, 'ca.pem')
      await writeFile(ca, authority.cert)
      const verdictOf = async (hosts: string[]) => {
        const file = join(directory, 'server.pem')
        await writeFile(file, (await issueCertificate(authority, hosts)).cert)
        const args = ['verify', '-purpose', 'sslserver', '-CAfile', ca, file]
        return run('openssl', args).then(
          () => 'accepted',
          (error: unknown) => /permitted subtree violation/.exec(String(error))?.[0] ?? String(error),
        )
      }
      for (const host of [
        'localhost',
        '127.0.0.1',
        '::1',
        'a.test',
        '*.b.local',
        '192.168.1.5',
        'fe80::1',
        'app',
        'api.app',
        '203.0.113.7',
      ])
        expect([host, await verdictOf([host])]).toEqual([host, 'accepted'])
      for (const host of [
        'bank.example.com',
        '*.com',
        '8.8.8.8',
        '2001:db8::1',
        'notlocalhost',
        '203.0.113.8',
      ])
        expect([host, await verdictOf([host])]).toEqual([host, 'permitted subtree violation'])
    },
  )

  it.each(['bank.example.com', '8.8.8.8', '2001:db8::1', 'mylocalhost'])(
    'are refused for %s, with the reason',
    async (host) => {
      await expect((await createAuthority()).issue(['localhost', host])).rejects.toThrow(
        `cannot certify ${host}. It is limited to this machine`,
      )
    },
  )

  it('are issued for a host that was named for the authority, also after it is opened again', async () => {
    await openAuthority(directory, ['pos.example.com'])
    const { cert } = await (await openAuthority(directory)).issue(['pos.example.com'])
    expect(new X509Certificate(cert).subjectAltName).toBe('DNS:pos.example.com')
  })

  it('name each host once', async () => {
    const authority = await createAuthority()
    const { cert } = await authority.issue([
      'My-Box.local',
      'my-box.local',
      '*.receiver.example',
      'bücher.example',
      '[::1]',
      '10.0.0.1',
    ])
    expect(new X509Certificate(cert).subjectAltName).toBe(
      'DNS:my-box.local, DNS:*.receiver.example, DNS:xn--bcher-kva.example, IP Address:0:0:0:0:0:0:0:1, IP Address:10.0.0.1',
    )
  })

  it('have positive and unique serial numbers of 128 bits', async () => {
    const authority = await createAuthority()
    const issued = await Promise.all(Array.from({ length: 20 }, () => authority.issue(['localhost'])))
    const serials = issued.map(({ cert }) => new X509Certificate(cert).serialNumber)
    expect(new Set(serials).size).toBe(20)
    for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/)
  })

  it.each([[], [''], ['https://localhost'], ['localhost:8443'], ['a b'], ['a..b'], ['x'.repeat(64)]])(
    'are refused for invalid hosts: %j',
    async (...hosts) => {
      const authority = await createAuthority()
      await expect(authority.issue(hosts)).rejects.toThrow(/host/)
    },
  )

  it('come with the matching private key', async () => {
    const { cert, key } = await (await createAuthority()).issue(['localhost'])
    const { createPrivateKey } = await import('node:crypto')
    expect(new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))).toBe(true)
  })

  it('are issued by the same authority in every later call', async () => {
    const first = await openAuthority(directory)
    const second = await openAuthority(directory)
    expect(second.certificatePem).toBe(first.certificatePem)
    const { cert } = await second.issue(['localhost'])
    const root = new X509Certificate(first.certificatePem)
    expect(new X509Certificate(cert).checkIssued(root)).toBe(true)
    expect(new X509Certificate(cert).verify(root.publicKey)).toBe(true)
  })

  it('come from one authority when it is opened several times at once, and no temporary file remains', async () => {
    const opened = await Promise.all(Array.from({ length: 5 }, () => openAuthority(directory)))
    expect(new Set(opened.map(({ certificatePem }) => certificatePem)).size).toBe(1)
    expect(await readdir(directory)).toEqual(['ca'])
  })

  it('come with an authority key that only its owner can read', async () => {
    await openAuthority(join(directory, 'new'))
    await expectMode(join(directory, 'new'), 0o700)
    await expectMode(join(directory, 'new', 'ca'), 0o700)
    await expectMode(join(directory, 'new', 'ca', 'ca-key.pem'), 0o600)
    await expectMode(join(directory, 'new', 'ca', 'ca.pem'), 0o644)
  })

  it('of the authority can be read without creating one', async () => {
    expect(await readAuthorityCertificate(directory)).toBeUndefined()
    expect(await readdir(directory)).toEqual([])
    const { certificatePem } = await openAuthority(directory)
    expect(await readAuthorityCertificate(directory)).toBe(certificatePem)
  })

  it.each(['ca.pem', 'ca-key.pem'])(
    'are refused while the %s is damaged, and the file is not changed',
    async (name) => {
      await openAuthority(directory)
      const file = join(directory, 'ca', name)
      await chmod(file, 0o600)
      await writeFile(file, 'damaged')
      await expect(openAuthority(directory)).rejects.toThrow(/Remove that folder/)
      expect(await readFile(file, 'utf8')).toBe('damaged')
    },
  )

  it('are refused while the key is missing', async () => {
    await openAuthority(directory)
    await rm(join(directory, 'ca', 'ca-key.pem'))
    await expect(openAuthority(directory)).rejects.toThrow(/Remove that folder/)
  })
})
