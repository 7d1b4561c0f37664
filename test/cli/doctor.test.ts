import { chmod, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAuthority, openAuthority } from '../../src/certificates/authority.ts'
import { loadX509 } from '../../src/certificates/issue.ts'
import { checkAuthority } from '../../src/cli/doctor/authority.ts'
import { checkClock, checkInstallation, checkPort } from '../../src/cli/doctor/environment.ts'
import type { DoctorFinding, Environment } from '../../src/cli/doctor/finding.ts'
import { certificateAdvice, diagnoseReceiver } from '../../src/cli/doctor/receiver.ts'
import { runningService } from '../../src/cli/running-service.ts'
import { writeRun } from '../../src/data-directory.ts'
import { tryPort } from '../../src/http/listen.ts'
import { startReceiver, type Answer } from '../support/https-receiver.ts'
import { openSimulator, temporaryDirectory, testAuthority } from '../support/simulator.ts'

const around = (changes: Partial<Environment>): Environment => ({
  directory: 'nowhere',
  host: '127.0.0.1',
  port: 0,
  https: false,
  tryPort,
  running: undefined,
  envFile: undefined,
  receiver: undefined,
  ca: [],
  insecure: false,
  plainHttpHosts: [],
  whyAddressRefused: async () => undefined,
  now: new Date(),
  ...changes,
})

test.each([
  [
    '/home/ana/pos/node_modules/tabwire/',
    '/usr/bin/node',
    'in the project /home/ana/pos. Update: `npm install --save-dev tabwire@latest` there',
  ],
  [
    '/home/ana/pos/node_modules/.pnpm/tabwire@1.0.0/node_modules/tabwire/',
    '/usr/bin/node',
    'in the project /home/ana/pos. Update: `pnpm add --save-dev tabwire@latest` there',
  ],
  [
    '/home/ana/pos/.yarn/unplugged/tabwire-virtual-f1ed9a/node_modules/tabwire/',
    '/usr/bin/node',
    'in the project /home/ana/pos. Update: `yarn add --dev tabwire@latest` there',
  ],
  [
    '/home/ana/.local/share/pnpm/global/5/.pnpm/tabwire@1.0.0/node_modules/tabwire/',
    '/usr/bin/node',
    'by pnpm, globally. Update: `pnpm add --global tabwire@latest`',
  ],
  [
    '/home/ana/.cache/pnpm/dlx/12ab/node_modules/.pnpm/tabwire@1.0.0/node_modules/tabwire/',
    '/usr/bin/node',
    'by pnpm, for this run. Update: `pnpm dlx tabwire@latest`',
  ],
  [
    'C:\\Users\\Ana\\AppData\\Local\\Yarn\\Data\\global\\node_modules\\tabwire\\',
    'C:\\Program Files\\nodejs\\node.exe',
    'by yarn, globally. Update: `yarn global add tabwire@latest`',
  ],
  [
    '/home/ana/.bun/install/global/node_modules/tabwire/',
    '/usr/bin/node',
    'by bun, globally. Update: `bun add --global tabwire@latest`',
  ],
  [
    '/home/ana/.npm-global/lib/node_modules/tabwire/',
    '/usr/bin/node',
    'by npm, globally. Update: `npm install --global tabwire@latest`',
  ],
  [
    '/usr/local/lib/node_modules/tabwire/',
    '/usr/local/bin/node',
    'by npm, globally. Update: `npm install --global tabwire@latest`',
  ],
  [
    'C:\\Users\\Ana\\AppData\\Roaming\\npm\\node_modules\\tabwire\\',
    'C:\\Program Files\\nodejs\\node.exe',
    'by npm, globally',
  ],
  ['/home/ana/.npm/_npx/12ab/node_modules/tabwire/', '/usr/bin/node', 'by npx, for this run'],
  ['/home/ana/tabwire/', '/usr/bin/node', 'as a clone in /home/ana/tabwire/. Update: `git pull && npm ci`'],
  [
    '/opt/homebrew/Cellar/tabwire/1.0.0/libexec/lib/tabwire/',
    '/opt/homebrew/Cellar/tabwire/1.0.0/libexec/lib/node',
    'by Homebrew. Update: `brew upgrade tabwire`',
  ],
  [
    '/home/ana/.local/bin/.tabwire-1.0.0/lib/tabwire/',
    '/home/ana/.local/bin/.tabwire-1.0.0/lib/node',
    'as a download, /home/ana/.local/bin/.tabwire-1.0.0/lib/node',
  ],
])('the installation %s is recognised', (program, executable, way) => {
  const installation = { program, executable, isSingle: false, isImage: false }
  expect(checkInstallation(installation).message.replaceAll('\\', '/')).toContain(
    `Tabwire is installed ${way}`,
  )
  expect(checkInstallation({ ...installation, isImage: true }).message).toContain('as a container image')
})

test.each([
  ['yarn.lock', 'yarn add --dev'],
  ['bun.lock', 'bun add --dev'],
  ['package-lock.json', 'npm install --save-dev'],
])('a project with %s is updated by %s', async (lockFile, command) => {
  const project = await temporaryDirectory()
  await writeFile(join(project, lockFile), '')
  const program = join(project, 'node_modules', 'tabwire')
  const installation = { program, executable: process.execPath, isSingle: false, isImage: false }
  expect(checkInstallation(installation).message).toBe(
    `Tabwire is installed in the project ${project}. Update: \`${command} tabwire@latest\` there.`,
  )
})

test.each([
  ['/home/linuxbrew/.linuxbrew/Cellar/tabwire/1.0.0/bin/tabwire', 'by Homebrew'],
  ['C:\\Users\\Ana\\scoop\\apps\\tabwire\\current\\tabwire.exe', 'by Scoop'],
  ['C:\\Users\\Ana\\AppData\\Local\\Microsoft\\WinGet\\Packages\\Tabwire\\tabwire.exe', 'by winget'],
  ['/home/ana/.local/bin/tabwire', 'as a download, /home/ana/.local/bin/tabwire'],
])('the single executable %s is recognised', (executable, way) => {
  const installation = { program: '/virtual/', executable, isSingle: true, isImage: false }
  expect(checkInstallation(installation).message.replaceAll('\\', '/')).toContain(
    `Tabwire is installed ${way}`,
  )
})

describe('the port', () => {
  test('is reported as free, or in use by this service, another Tabwire or another program', async () => {
    const directory = await temporaryDirectory()
    const { port, url } = await openSimulator()
    expect(await checkPort(around({ directory, port }))).toMatchObject({
      level: 'bad',
      message: `Port ${port} on 127.0.0.1 is in use by another Tabwire.`,
      advice: expect.stringContaining('--port') as string,
    })
    await writeRun(directory, { url, pid: process.pid, started_at: new Date().toISOString() })
    const running = await runningService(directory)
    expect(running).toEqual({ url, pid: process.pid })
    expect(await checkPort(around({ directory, port, running }))).toMatchObject({ level: 'good' })
    const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const taken = (other.address() as AddressInfo).port
    expect((await checkPort(around({ directory, port: taken }))).message).toMatch(/in use by another program/)
    await new Promise((resolve) => other.close(resolve))
    expect((await checkPort(around({ directory, port: taken }))).message).toMatch(/is free/)
  })
})

test('the clock is reported as behind when a file of the data directory has a later time', async () => {
  const directory = await temporaryDirectory()
  await writeFile(join(directory, 'db.json'), '{}')
  expect((await checkClock(around({ directory }))).message).toMatch(/cannot be checked offline/)
  await utimes(join(directory, 'db.json'), new Date(), new Date(Date.now() + 7_200_000))
  expect(await checkClock(around({ directory }))).toMatchObject({
    level: 'note',
    message: expect.stringContaining('db.json was written at') as string,
  })
  expect((await checkClock(around({}))).message).toMatch(/No file here to compare it with/)
})

test('the local authority is reported when it is missing, expired, readable by others or damaged', async () => {
  const directory = await temporaryDirectory()
  const look = (now = new Date()) => checkAuthority(around({ directory, now }))
  expect((await look()).message).toMatch(/no local authority yet/)
  await openAuthority(directory)
  expect(await look()).toMatchObject({ level: 'good' })
  expect(await look(new Date('2099-01-01'))).toMatchObject({ level: 'note' })
  if (process.platform !== 'win32') {
    await chmod(join(directory, 'ca', 'ca-key.pem'), 0o644)
    expect(await look()).toMatchObject({ level: 'note' })
  }
  const { BasicConstraintsExtension, PemConverter, X509CertificateGenerator } = await loadX509()
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const extensions = [new BasicConstraintsExtension(true, 0, true)]
  const early = await X509CertificateGenerator.createSelfSigned({ name: 'O=Tabwire', keys, extensions })
  const key = PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  await writeFile(join(directory, 'ca', 'ca.pem'), early.toString('pem'))
  await writeFile(join(directory, 'ca', 'ca-key.pem'), key)
  await chmod(join(directory, 'ca', 'ca-key.pem'), 0o600)
  expect(await look()).toMatchObject({
    level: 'note',
    message: expect.stringContaining('so it can certify any host') as string,
    advice: expect.stringContaining('Remove that folder to create a new authority.') as string,
  })
  await writeFile(join(directory, 'ca', 'ca.pem'), 'damaged')
  expect(await look()).toMatchObject({ level: 'note', advice: expect.stringContaining('Remove') as string })
  expect(await checkAuthority(around({ directory, https: true }))).toMatchObject({ level: 'bad' })
})

describe('the check of a receiver', () => {
  const way = async (url: string, changes: Partial<Environment> = {}) => {
    const found: DoctorFinding[] = []
    for await (const one of diagnoseReceiver(around({ receiver: new URL(url), ...changes }))) found.push(one)
    return found
  }
  const open = async (answer: Answer, hosts?: string[], authority = testAuthority()) => {
    const tls = hosts && (await (await authority).issue(hosts))
    const receiver = await startReceiver({ answer, ...(tls && { tls }) })
    onTestFinished(() => receiver.close())
    return receiver
  }

  test('passes each step: name, connection, certificate, answer and clock', async () => {
    const { url, requests } = await open(405, ['127.0.0.1'])
    const found = await way(url, { ca: [(await testAuthority()).certificatePem] })
    expect(found.map(({ check, level }) => `${check} ${level}`)).toEqual(
      ['name', 'connection', 'certificate', 'answer', 'clock'].map((step) => `receiver ${step} good`),
    )
    expect(requests.map(({ method }) => method)).toEqual(['HEAD'])
  })

  test('trusts the local authority of the data directory', async () => {
    const directory = await temporaryDirectory()
    const { url } = await open(204, ['127.0.0.1'], openAuthority(directory))
    expect((await way(url, { directory })).every(({ level }) => level === 'good')).toBe(true)
  })

  test.each<[string, () => Promise<string>, RegExp, RegExp]>([
    [
      'no such host',
      async () => 'https://nowhere.invalid/',
      /Cannot resolve nowhere\.invalid/,
      /Correct the host name/,
    ],
    [
      'nothing listens',
      async () => 'https://127.0.0.1:1/',
      /Cannot connect to 127\.0\.0\.1 at port 1 \(ECONNREFUSED\)/,
      /Start the receiver/,
    ],
    [
      'an unknown authority',
      async () => (await open(204, ['127.0.0.1'])).url,
      /not trusted/,
      /--cacert ca\.pem/,
    ],
    [
      'another host',
      async () => (await open(204, ['receiver.test'], known())).url,
      /is not for 127\.0\.0\.1/,
      /certs create 127\.0\.0\.1/,
    ],
    [
      'plain HTTP on the port',
      async () => (await open(204)).url.replace('http:', 'https:'),
      /does not use TLS/,
      /check it as http:/,
    ],
    ['plain HTTP here', async () => (await open(204)).url, /uses plain HTTP/, /tabwire listen --forward-to/],
    [
      'a redirect',
      async () => (await open({ redirect: 'https://b.test/' }, ['127.0.0.1'], known())).url,
      /redirects \(30\d\) to https:\/\/b\.test\//,
      /Register the target of the redirect/,
    ],
    ['no answer', async () => (await open('reset', ['127.0.0.1'], known())).url, /does not answer/, /crash/],
  ])('fails at: %s', async (_what, urlOf, message, advice) => {
    const found = await way(await urlOf(), { ca: [(await known()).certificatePem] })
    const wrong = found.find(({ level }) => level !== 'good')
    expect(wrong?.message).toMatch(message)
    expect(wrong?.advice).toMatch(advice)
  })

  test('accepts any certificate with --insecure, and notes it', async () => {
    const { url, requests } = await open(204, ['receiver.test'])
    const found = await way(url, { insecure: true })
    expect(found.filter(({ level }) => level !== 'good')).toEqual([
      {
        check: 'receiver certificate',
        level: 'note',
        message: "The receiver's certificate is not checked, because of --insecure.",
      },
    ])
    expect(requests).toHaveLength(1)
  })

  test('accepts plain HTTP at a host of --allow-http-host, and notes it', async () => {
    const { url, requests } = await open(204)
    const found = await way(url, { plainHttpHosts: ['127.0.0.1'] })
    expect(found.filter(({ level }) => level !== 'good')).toEqual([
      {
        check: 'receiver certificate',
        level: 'note',
        message: 'The receiver uses plain HTTP, which --allow-http-host 127.0.0.1 allows.',
      },
    ])
    expect(requests).toHaveLength(1)
  })

  test('stops at an address to which a start would send nothing, without a connection', async () => {
    const receiver = await open(204)
    const found = await way(receiver.url, { whyAddressRefused: async () => 'must not point there' })
    expect(found.at(-1)).toEqual({
      check: 'receiver address',
      level: 'bad',
      message: 'The receiver cannot be registered: its URL must not point there.',
    })
    expect(receiver.connected()).toBe(0)
  })

  test('trusts the authorities of NODE_EXTRA_CA_CERTS, as deliveries do', async () => {
    const own = await createAuthority()
    const file = join(await temporaryDirectory(), 'ca.pem')
    await writeFile(file, own.certificatePem)
    const { url } = await open(204, ['127.0.0.1'], Promise.resolve(own))
    expect((await way(url, { ca: [] })).map(({ level }) => level)).toContain('bad')
    vi.stubEnv('NODE_EXTRA_CA_CERTS', file)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect((await way(url, { ca: [] })).map(({ level }) => level)).not.toContain('bad')
  })

  test.each([
    ['CERT_HAS_EXPIRED', /has expired \(CERT_HAS_EXPIRED\)\./],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /self-signed/],
    ['SOMETHING_NEW', /handshake with the receiver failed \(SOMETHING_NEW\)\./],
  ])('explains %s', (code, message) => {
    expect(certificateAdvice(code, 'a.test')[0]).toMatch(message)
    expect(certificateAdvice(code, 'a.test')[1]).not.toContain('HOST')
  })
})

let authority: ReturnType<typeof createAuthority> | undefined

/** An authority beside that of all tests, which is passed with --cacert here. */
function known() {
  authority ??= createAuthority()
  return authority
}
