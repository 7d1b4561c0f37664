import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createAuthority } from '../../src/certificates/authority.ts'
import { DEFAULT_DATA_DIRECTORY, writeRun } from '../../src/data-directory.ts'
import { startReference } from '../conformance/receiver/check.ts'
import { emptyDirectory, serve, tabwire, type RunningService } from '../support/cli.ts'
import { deadUrl, testAuthority } from '../support/simulator.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { receiverLanguages } from '../../src/cli/conformance/receiver.ts'
import { atEnd } from '../support/at-end.ts'
import { openHttpServer } from '../support/http-server.ts'

const secret = 'whsec_bm90LWEtcmVhbC1zZWNyZXQ'
const body = '{"id":"evt_1"}'

/** A module that resolves each name to this machine. */
const everyNameIsLoopback = `data:text/javascript,${encodeURIComponent(
  "import dns from 'node:dns'; const { lookup } = dns; dns.lookup = (_, ...rest) => lookup('127.0.0.1', ...rest)",
)}`

/** A service called Acme, in whose directory commands run without being told of the name. */
let acme: RunningService
beforeAll(async () => {
  acme = await serve({ serviceName: 'Acme', allowHttpLoopback: true })
  return () => acme.stop()
})

describe.concurrent('without --service-name, the name of the running service is used by', () => {
  test('receiver example', async () => {
    const { stdout } = await acme.run(['receiver', 'example', 'python'])
    expect(stdout).toContain('"X-Acme-Signature"')
  })

  test('receiver check', async () => {
    const receiver = await startReceiver()
    await acme.run(['receiver', 'check', receiver.url, '--secret', secret, '--only', 'event_check_created'])
    await receiver.close()
    expect(receiver.requests[0]?.headers).toMatchObject({
      'x-acme-signature': expect.stringMatching(/^t=\d+,v1=/) as string,
      'user-agent': 'Acme-Webhooks/1.0',
    })
  })

  test('sign', async () => {
    const args = ['sign', '--secret', secret]
    const { stdout } = await acme.run([...args, '--json'], { input: body })
    expect(JSON.parse(stdout)).toMatchObject({ header: 'X-Acme-Signature' })
    const curl = await acme.run([...args, '--curl', 'https://localhost/'], { input: body })
    expect(curl.stdout).toContain('X-Acme-Signature: t=')
  })

  test('verify --request', async () => {
    const signed = await acme.run(['sign', '--secret', secret], { input: body })
    const input = `POST / HTTP/1.1\r\nX-Acme-Signature: ${signed.stdout.trim()}\r\n\r\n${body}`
    expect(await acme.run(['verify', '--secret', secret, '--request', '-'], { input })).toMatchObject({
      code: 0,
    })
  })

  test('openapi', async () => {
    const { stdout } = await acme.run(['openapi'])
    expect(stdout).toContain('"X-Acme-Signature"')
    expect(stdout).not.toContain('"X-Service-Signature"')
  })

  test('deliveries export, in any directory', async () => {
    const registration = { url: deadUrl, event_types: ['check.created'] }
    await acme.call('POST', '/v1/webhook-endpoints', registration)
    await acme.run(['trigger', 'check.created'])
    const [delivery] = (await acme.json<{ data: { id: string }[] }>('deliveries', 'list')).data
    const args = ['deliveries', 'export', delivery?.id ?? '', '--secret', secret]
    const here = await acme.run([...args, '--as', 'http'])
    expect(here.stdout).toMatch(/^User-Agent: Acme-Webhooks\/1\.0\nX-Acme-Signature: t=\d+,v1=/m)
    const cwd = await emptyDirectory()
    const elsewhere = await tabwire([...args, '--url', acme.url, '--api-key', acme.key], { cwd })
    expect(elsewhere.stdout).toContain('X-Acme-Signature: t=')
    const named = await acme.run([...args, '--service-name', 'x-other-signature', '--json'])
    expect(JSON.parse(named.stdout)).toMatchObject({
      headers: { 'X-Other-Signature': expect.any(String) as string, 'User-Agent': 'Other-Webhooks/1.0' },
    })
  })

  test('a command that finds the service by TABWIRE_URL', async () => {
    const { stdout } = await tabwire(['receiver', 'example', 'go'], {
      env: { TABWIRE_URL: `${acme.url}/v1` },
    })
    expect(stdout).toContain('"X-Acme-Signature"')
  })
})

describe.concurrent('the service name is taken', () => {
  const exampleIn = async (cwd: string, args: string[] = [], env: Record<string, string> = {}) => {
    const { stdout } = await tabwire(['receiver', 'example', 'go', ...args], { cwd, env })
    return /"(X-\w+-Signature)"/.exec(stdout)?.[1]
  }

  /** A directory whose service is said to be there, with files of settings. */
  async function directory(url: string, files: Record<string, string> = {}, ca?: string): Promise<string> {
    const cwd = await emptyDirectory()
    const run = { url, pid: process.pid, started_at: new Date().toISOString(), ...(ca && { ca }) }
    await writeRun(join(cwd, DEFAULT_DATA_DIRECTORY), run)
    for (const [file, service_name] of Object.entries(files))
      await writeFile(join(cwd, file), JSON.stringify({ service_name }))
    return cwd
  }

  test('from the flag, then the environment, then the settings file, then the service', async () => {
    expect(await exampleIn(await directory(acme.url))).toBe('X-Acme-Signature')
    const cwd = await directory(acme.url, {
      'tabwire.config.json': 'File',
      'other.json': 'X-Other-Signature',
    })
    expect(await exampleIn(cwd)).toBe('X-File-Signature')
    expect(await exampleIn(cwd, ['--config', 'other.json'])).toBe('X-Other-Signature')
    const env = { TABWIRE_SERVICE_NAME: 'Environment' }
    expect(await exampleIn(cwd, [], env)).toBe('X-Environment-Signature')
    expect(await exampleIn(cwd, ['--service-name', 'Flag'], env)).toBe('X-Flag-Signature')
  })

  test('from the service of a profile, whose certificate the authority of the profile issued', async () => {
    const secure = await serve({ serviceName: 'Acme', https: true })
    const cwd = await emptyDirectory()
    await cp(join(secure.cwd, DEFAULT_DATA_DIRECTORY, 'ca', 'ca.pem'), join(cwd, 'ca.pem'))
    const profiles = { near: { url: secure.url, cacert: 'ca.pem' } }
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ profiles }))
    expect(await exampleIn(cwd, ['--profile', 'near'])).toBe('X-Acme-Signature')
    await secure.stop()
  })

  test('from a service of another machine by the public authorities, not by the local one', async () => {
    const authority = await testAuthority()
    const tls = await authority.issue(['pos.test'])
    const { port } = await openHttpServer((_, response) => response.end('{"service_name":"Acme"}'), {
      tls,
      atEnd,
    })
    const { certificatePem: ca } = await createAuthority()
    const cwd = await directory('https://127.0.0.1:1', {}, ca)
    await writeFile(join(cwd, 'public.pem'), authority.certificatePem)
    const name = await exampleIn(cwd, [], {
      TABWIRE_URL: `https://pos.test:${port}`,
      NODE_EXTRA_CA_CERTS: join(cwd, 'public.pem'),
      NODE_OPTIONS: `--import=${everyNameIsLoopback}`,
    })
    expect(name).toBe('X-Acme-Signature')
  })

  test('as Service when no service runs', async () => {
    expect(await exampleIn(await emptyDirectory())).toBe('X-Service-Signature')
    expect(await exampleIn(await directory(deadUrl))).toBe('X-Service-Signature')
  })

  test('from no settings file with an invalid name, which exits with 2', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'tabwire.config.json'), '{"service_name":"a b"}')
    const { code, stderr } = await tabwire(['sign', '--secret', secret], { cwd, input: body })
    expect(code).toBe(2)
    expect(stderr).toContain(
      'tabwire.config.json: service_name must be 1 to 64 letters, digits and hyphens, without a hyphen at either end, got "a b".',
    )
  })
})

describe.concurrent('receiver example --service-name', () => {
  test.each(receiverLanguages)('changes the header in %s, and nothing else', async (language) => {
    const { stdout: usual } = await tabwire(['receiver', 'example', language])
    const { stdout } = await tabwire(['receiver', 'example', language, '--service-name', 'X-Acme-signature'])
    expect(stdout).toMatch(/x[-_]acme[-_]signature/i)
    expect(stdout).not.toMatch(/x[-_]service[-_]signature/i)
    const plain = (text: string) => text.replace(/(x[-_])(acme|service)([-_]signature)/i, '$1$3')
    expect(plain(stdout)).toBe(plain(usual))
  })

  test('prints a receiver that accepts only the header of that name', async () => {
    const cwd = await emptyDirectory()
    const { stdout } = await tabwire(['receiver', 'example', 'node', '--service-name', 'Acme'], { cwd })
    await writeFile(join(cwd, 'receiver.mjs'), stdout)
    const { url } = await startReference([process.execPath, join(cwd, 'receiver.mjs')])
    const args = ['receiver', 'check', url, '--secret', secret, '--only', 'event_check_created']
    expect((await tabwire([...args, '--service-name', 'acme'])).code).toBe(0)
    expect((await tabwire(args)).code).toBe(3)
  })
})
