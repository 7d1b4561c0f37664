import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { noticing } from '../../src/cli/service-command.ts'
import { emptyDirectory, serve, tabwire, type RunningService } from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

/** A URL at which nothing listens: no test can get port 2, and `fetch` refuses port 1. */
const deadUrl = 'http://127.0.0.1:2'

const ofComment =
  'The shell passed a comment on as arguments: leave out # and the words after it. In zsh, `setopt interactive_comments` allows comments.'

describe.concurrent('a command finds the service', () => {
  test('by --url (with /v1 or without) and --api-key, which override the environment', async () => {
    const options = { env: { TABWIRE_URL: 'http://127.0.0.1:1', TABWIRE_API_KEY: 'twk_wrong' } }
    const args = ['locations', '--api-key', service.key, '--url']
    expect(await tabwire([...args, service.url], options)).toMatchObject({ code: 0, stderr: '' })
    expect(await tabwire([...args, `${service.url}/v1/`], options)).toMatchObject({ code: 0, stderr: '' })
  })

  test('by TABWIRE_URL and TABWIRE_API_KEY', async () => {
    const env = { TABWIRE_URL: service.url, TABWIRE_API_KEY: service.key, TABWIRE_JSON: 'TRUE' }
    const { code, stdout } = await tabwire(['locations'], { env })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toHaveProperty('data')
  })

  test('by --data-dir', async () => {
    const args = ['locations', '--data-dir', join(service.cwd, '.tabwire')]
    expect(await tabwire(args)).toMatchObject({ code: 0, stderr: '' })
  })
})

describe.concurrent('a command', () => {
  test('exits with 1 and says to start the service or correct the URL when none answers there', async () => {
    const message = `No service answers at ${deadUrl} (connection refused). Start a service there with \`tabwire start\`, or correct the URL: it comes from --url, TABWIRE_URL or the profile.`
    const options = { env: { TABWIRE_URL: deadUrl } }
    expect(await tabwire(['checks', 'list'], options)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `Error: ${message}\n`,
    })
    const asJson = await tabwire(['tail', '--json'], options)
    expect(asJson).toMatchObject({ code: 1, stderr: '' })
    expect(JSON.parse(asJson.stdout)).toEqual({ error: { code: 'unreachable', message } })
  })

  test('does not advise to start a service at a host that has no address', async () => {
    const url = 'http://pos.invalid'
    const { code, stderr } = await tabwire(['checks', 'list', '--url', url, '--api-key', 'twk_a'])
    expect(code).toBe(1)
    expect(stderr).toContain(`No service answers at ${url}`)
    expect(stderr).toMatch(/ Check the network, or correct the URL: .*\.\n$/)
  })

  test('that serves the API keeps the check of queries, which has no result, through the build', async () => {
    const url = `${service.url}/v1/checks?table=%zz`
    const { status } = await fetch(url, { headers: { authorization: `Bearer ${service.key}` } })
    expect(status).toBe(400)
  })

  test('says where it looks for a service when no URL is given and none answers', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, '.tabwire'))
    await writeFile(join(cwd, '.tabwire', 'run.json'), JSON.stringify({ url: deadUrl, pid: 1 }))
    expect(await tabwire(['checks', 'list'], { cwd })).toMatchObject({
      code: 1,
      stderr: `Error: No service answers at ${deadUrl} (connection refused). Run this where you started Tabwire, pass --data-dir or --url, or start a service with \`tabwire start\`.\n`,
    })
  })

  test('ignores a damaged run.json when --url and --api-key are given', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, '.tabwire'))
    await writeFile(join(cwd, '.tabwire', 'run.json'), '{"url": "nonsense", "pid": 1}')
    const { code, stdout } = await tabwire(
      ['locations', '--url', service.url, '--api-key', service.key, '--json'],
      { cwd },
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toHaveProperty('data')
  })

  test('exits with 2 and shows a valid URL when --url is invalid', async () => {
    for (const url of ['localhost:4100', 'nonsense']) {
      const { code, stderr } = await tabwire(['locations', '--url', url])
      expect(code).toBe(2)
      expect(stderr).toBe(
        `Error: --url must be an http: or https: URL such as http://127.0.0.1:4100, got ${JSON.stringify(url)}.\n`,
      )
    }
  })

  test('exits with 4 and names the sources of keys when the key is missing or wrong', async () => {
    const none = await tabwire(['locations', '--url', service.url])
    expect(none).toMatchObject({ code: 4, stdout: '' })
    expect(none.stderr).toMatch(
      /^Error: 401 unauthorized: .*(--api-key, TABWIRE_API_KEY or the data directory \(--data-dir\)|No API key found\. Run this where you started Tabwire, or pass --api-key or --data-dir)\.\n {2}X-Request-Id: req_/,
    )
    expect((await service.run(['locations', '--api-key', 'twk_wrong'])).stderr).toContain(
      'The API key is unknown or was revoked. Commands take the key from --api-key, TABWIRE_API_KEY or the data',
    )
    const elsewhere = await emptyDirectory()
    await mkdir(join(elsewhere, '.tabwire'), { mode: 0o700 })
    await writeFile(join(elsewhere, '.tabwire', 'credentials.json'), '{"api_key": "twk_other"}', {
      mode: 0o600,
    })
    const other = await tabwire(['locations', '--url', service.url], { cwd: elsewhere })
    expect(other.stderr).toContain(
      'The key comes from the data directory. Run this where you started Tabwire, or pass --api-key or --data-dir.',
    )
    const wrong = await service.run(['locations', '--api-key', 'twk_wrong', '--json'])
    expect(wrong).toMatchObject({ code: 4, stderr: '' })
    expect(wrong.stdout).not.toContain('twk_wrong')
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      error: { code: 'unauthorized', request_id: expect.stringMatching(/^req_/) as string },
    })
  })

  test.each([
    [['checks', 'show'], 'CHECK is missing: external id of the check. Run `tabwire checks show --help`.'],
    [
      ['checks', 'list', '--limit', '0'],
      '--limit must be a whole number of at least 1, got "0". Run `tabwire checks list --help`.',
    ],
    [['ping', 'one', 'two'], 'Unexpected argument for `tabwire ping`: two. Run `tabwire ping --help`.'],
    [
      ['doctor', '--repair', '#', 'moves', 'files'],
      `Unexpected argument for \`tabwire doctor\`: #, moves, files. ${ofComment} Run \`tabwire doctor --help\`.`,
    ],
    [
      ['report', '--fail-on', 'none', '#', 'never', 'fails'],
      `Unexpected argument #. ${ofComment} Run \`tabwire report --help\`.`,
    ],
    [
      ['start', '--in-memory', '--data-dir=~/tabwire'],
      '--data-dir: the shell did not replace ~ in "~/tabwire". Write $HOME in place of ~. Run `tabwire start --help`.',
    ],
  ])('exits with 2 and prints the usage error of %j as JSON', async (args, message) => {
    const json = await tabwire([...args, '--json'], { input: 'no argument' })
    expect(json).toMatchObject({ code: 2, stderr: '' })
    expect(JSON.parse(json.stdout)).toEqual({ error: { code: 'usage', message } })
  })

  test('takes # without further words as a value', async () => {
    const args = ['checks', 'show', '#', '--url', 'http://127.0.0.1:9']
    expect(await tabwire(args)).toMatchObject({ code: 1, stdout: '' })
  })

  test('exits with 2 and prints one line on stderr for an unknown flag', async () => {
    const { code, stdout, stderr } = await tabwire(['locations', '--colour'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe('Error: Unknown flag --colour. Run `tabwire locations --help`.\n')
  })

  test('exits with 2 for an unknown command', async () => {
    const { code, stdout, stderr } = await tabwire(['serve'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Error: Unknown command "serve"\. /)
  })
})

test('a command says once per request, after ten seconds, that no response has come', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let resolve = (_response: Response) => {}
  const promise = new Promise<Response>((respond) => (resolve = respond))
  const slow = vi.fn()
  const answer = noticing(() => promise, slow)('http://127.0.0.1:2/v1/checks', {})
  vi.advanceTimersByTime(9_999)
  expect(slow).not.toHaveBeenCalled()
  vi.advanceTimersByTime(60_000)
  expect(slow.mock.calls).toEqual([['http://127.0.0.1:2/v1/checks']])
  resolve(new Response())
  await answer
  await noticing(() => promise, slow)('http://127.0.0.1:2/', {})
  vi.advanceTimersByTime(60_000)
  expect(slow).toHaveBeenCalledTimes(1)
})
