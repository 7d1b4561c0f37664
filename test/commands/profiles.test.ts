import { writeFile } from 'node:fs/promises'
import { request, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { emptyDirectory, serve, tabwire } from '../support/cli.ts'
import { foreignProfile, openForeignService } from '../support/foreign-service.ts'
import { testAuthority } from '../support/simulator.ts'
import { openHttpServer } from '../support/http-server.ts'

/** A deployment by other developers, over HTTPS with a certificate of a private authority. */
interface Deployment {
  cwd: string
  url: string
  env: Record<string, string>
  run(...args: string[]): ReturnType<typeof tabwire>
}

let deployment: Deployment
beforeAll(async () => {
  const ends: (() => Promise<void>)[] = []
  deployment = await openDeployment((end) => void ends.push(end))
  return async () => {
    for (const end of ends) await end()
  }
})

async function openDeployment(atEnd: (end: () => Promise<void>) => void): Promise<Deployment> {
  const { baseUrl, apiKey } = await openForeignService({}, atEnd)
  const authority = await testAuthority()
  const tls = await authority.issue(['127.0.0.1'])
  const pass: RequestListener = (incoming, response) => {
    const { method, url = '', headers } = incoming
    const passed = request(new URL(url, baseUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(passed)
  }
  const { url } = await openHttpServer(pass, { tls, atEnd })
  const cwd = await emptyDirectory()
  const profiles = {
    staging: {
      url,
      api_key_env: 'STAGING_KEY',
      service_name: 'Acme',
      cacert: 'staging-ca.pem',
      contract_profile: 'staging-contract.json',
    },
    elsewhere: { url: 'https://pos.example.com/v1', api_key_env: 'STAGING_KEY' },
  }
  await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ profiles }))
  await writeFile(join(cwd, 'staging-ca.pem'), authority.certificatePem)
  await writeFile(join(cwd, 'staging-contract.json'), JSON.stringify(foreignProfile))
  const env = { STAGING_KEY: apiKey }
  return { cwd, url, env, run: (...args) => tabwire([...args, '--profile', 'staging'], { cwd, env }) }
}

describe('--profile at a deployment of other developers', () => {
  test('pushes a check and prints a summary', async () => {
    const { code, stdout } = await deployment.run('push', '--sample', 'two-top')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^created {2}two-top {2}table 12 {2}open {2}4 items {2}total \S*67\.50\n$/)
    const json = await deployment.run('push', '--sample', 'two-top', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ ref: 'two-top', status: 'open' })
  })

  test('lists locations with the fields of the deployment', async () => {
    const { code, stdout } = await deployment.run('locations')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'KEY\nnorth\n' })
  })

  test('registers an endpoint, finds its secret and id, and pings it', async () => {
    const args = ['endpoints', 'create', 'https://receiver.example/webhooks', '--secret-file', '.secret']
    const { code, stdout, stderr } = await deployment.run(...args, '--dotenv', '.env')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^id +\S+\nurl +https:\/\/receiver\.example\/webhooks\nsecret +…\n$/)
    const [, id = ''] = /Next: tabwire ping (\S+)/.exec(stderr) ?? []
    const pinged = await deployment.run('ping', id)
    expect(pinged).toMatchObject({ code: 0, stdout: expect.stringContaining('accepted the ping') as string })
  })

  test('exits with 1 and shows the 404 when the deployment has no list', async () => {
    const { code, stderr } = await deployment.run('checks', 'list')
    expect(code).toBe(1)
    expect(stderr).toContain('404')
  })

  test('names the variable of the key when the deployment refuses it', async () => {
    const { cwd } = deployment
    const env = { STAGING_KEY: 'wrong', TABWIRE_API_KEY: 'other' }
    const { code, stderr } = await tabwire(['locations', '--profile', 'staging'], { cwd, env })
    expect(code).toBe(4)
    expect(stderr).toContain('from the variable that api_key_env of the profile staging names.')
  })

  test('runs the contract check with the settings of the profile', async () => {
    const { code, stdout } = await deployment.run('contract', 'check', '--only', 'access', '--only', 'checks')
    expect(stdout).toContain(deployment.url)
    expect(stdout).toMatch(/\n\d+ passed, 0 failed/)
    expect(code).toBe(0)
  })

  test('needs no key for a command that calls no service', async () => {
    const args = ['receiver', 'example', 'go', '--profile', 'staging']
    const { code, stdout, stderr } = await tabwire(args, { cwd: deployment.cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('"X-Acme-Signature"')
  })

  test('sign names the signature header of the profile', async () => {
    const args = ['sign', '--secret', 'whsec_x', '--json', '--body', 'staging-ca.pem']
    expect(JSON.parse((await deployment.run(...args)).stdout)).toMatchObject({ header: 'X-Acme-Signature' })
  })
})

describe('--profile', () => {
  test('replaces the address and key of the environment; --url replaces a profile of the environment', async () => {
    const local = await serve()
    onTestFinished(() => local.stop().then(() => undefined))
    const { cwd, env } = deployment
    const both = { ...env, TABWIRE_URL: local.url, TABWIRE_API_KEY: local.key }
    const staging = await tabwire(['locations', '--profile', 'staging'], { cwd, env: both })
    expect(staging.stdout).toContain('north')
    const flags = ['--url', local.url, '--api-key', local.key]
    const chosen = { ...env, TABWIRE_PROFILE: 'staging' }
    const flagged = await tabwire(['locations', ...flags], { cwd, env: chosen })
    expect(flagged.stdout).toContain('The Copper Pan')
    // The key of the profile does not go to another service.
    const other = await tabwire(['locations', '--url', local.url], { cwd, env: chosen })
    expect(other).toMatchObject({ code: 4, stderr: expect.stringContaining('401') as string })
    const named = await tabwire(['locations'], { cwd, env: { ...env, TABWIRE_PROFILE: 'staging' } })
    expect(named.stdout).toContain('north')
  })

  test('of the environment does not apply to contract check --base-url', async () => {
    const other = await openForeignService()
    const cwd = await emptyDirectory()
    const staging = { url: other.baseUrl, api_key_env: 'STAGING_KEY', contract_profile: 'staging.json' }
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ profiles: { staging } }))
    await writeFile(join(cwd, 'staging.json'), JSON.stringify({ keys: { write: other.apiKey } }))
    const args = ['contract', 'check', '--base-url', other.baseUrl, '--only', 'access/locations']
    const env = { TABWIRE_PROFILE: 'staging', STAGING_KEY: other.apiKey }
    const { code, stderr } = await tabwire(args, { cwd, env })
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('401') as string })
    const { stdout } = await tabwire([...args, '--api-key', other.apiKey], { cwd, env })
    expect(stdout).toContain('\n  service    given by --base-url\n')
    expect(stdout).toContain('\n  API key    --api-key\n')
  })

  test.each([
    [
      'an unknown name',
      ['--profile', 'stagin'],
      {},
      /no profile "stagin". Did you mean staging\? Profiles: staging, elsewhere/,
      2,
    ],
    [
      'a profile together with a URL',
      ['--profile', 'staging', '--url', 'https://a'],
      {},
      /Pass --url or --profile, not both\./,
      2,
    ],
    [
      'a key that is not set',
      ['--profile', 'staging'],
      {},
      /from the environment variable STAGING_KEY, which is not set/,
      2,
    ],
    ['an authority that is not trusted', ['--url', 'URL', '--api-key', 'k'], {}, /certificate/, 1],
    [
      'a file that may have come with a clone',
      ['--profile', 'elsewhere'],
      { STAGING_KEY: 'k' },
      /profiles\.elsewhere.*config trust/,
      1,
    ],
  ])('refuses %s', async (_what, args, env, message, code) => {
    const words = args.map((word) => (word === 'URL' ? deployment.url : word))
    const ended = await tabwire(['locations', ...words], { cwd: deployment.cwd, env })
    expect(ended.stderr).toMatch(message)
    expect(ended.code).toBe(code)
  })

  test.each([
    ['cacert', '../ca.pem', ['locations']],
    ['contract_profile', '../contract.json', ['contract', 'check']],
  ])('names the setting %s whose path is outside of the folder', async (key, path, command) => {
    const cwd = await emptyDirectory()
    const profiles = { staging: { url: 'http://127.0.0.1:9', [key]: path } }
    await writeFile(join(cwd, 'other.json'), JSON.stringify({ profiles }))
    const { code, stderr } = await tabwire([...command, '--profile', 'staging', '--config', 'other.json'], {
      cwd,
    })
    expect(stderr).toContain(`profiles.staging.${key} must be inside the folder of the file`)
    expect(stderr).toMatch(/Use a path inside it\.\n$/)
    expect(code).toBe(2)
  })

  test('says that tabwire.config.json is missing', async () => {
    const { code, stderr } = await tabwire(['locations', '--profile', 'staging'])
    expect(stderr).toContain('--profile staging needs tabwire.config.json, which is not in this directory.')
    expect(code).toBe(2)
  })

  test.each([
    [{ staging: { url: 'ftp://a' } }, 'profiles.staging.url must be an http: or https: URL'],
    [{ staging: { url: 'https://a', key: 'k' } }, 'unknown key'],
    [
      { staging: { url: 'https://a', api_key_env: 'not a name' } },
      'must be the name of an environment variable',
    ],
  ])('names what is wrong in %j', async (profiles, message) => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ profiles }))
    const { code, stderr } = await tabwire(['locations', '--profile', 'staging'], { cwd })
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })
})
