import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openInBrowser } from '../../src/cli/open-in-browser.ts'
import { createClient } from '../../src/client.ts'
import { emptyDirectory, serve, startService, tabwire, type RunningService } from '../support/cli.ts'
import { openHttpServer } from '../support/http-server.ts'

let service: RunningService

beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

/** The status with which a service takes the code of a link. */
async function taken(link: string): Promise<number> {
  const { origin, hash } = new URL(link)
  const response = await fetch(`${origin}/_sim/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ code: hash.replace('#link=', '') }),
  })
  return response.status
}

/** A directory with a command that opens addresses by writing them down. */
async function opener(): Promise<{
  PATH: string
  opened: () => Promise<string>
  /** URLs that it was called with so far. */
  calls: () => Promise<string[]>
}> {
  const directory = await emptyDirectory()
  const [program, file] = [join(directory, 'xdg-open'), join(directory, 'opened')]
  await writeFile(program, `#!/bin/sh\nprintf %s "$1" > '${file}.new' && /bin/mv '${file}.new' '${file}'\n`)
  await chmod(program, 0o755)
  return {
    PATH: directory,
    calls: async () => (await readdir(directory)).filter((name) => name !== 'xdg-open'),
    async opened() {
      return vi.waitFor(() => readFile(file, 'utf8'), { timeout: 30_000, interval: 20 })
    },
  }
}

/** Where a page leads that was written for the browser. */
async function linkIn(page: string): Promise<string> {
  return /content="0;url=([^"]+)"/.exec(await readFile(page, 'utf8'))?.[1] ?? ''
}

/** The URL of a service that answers every request with this. */
async function liar(answer: unknown): Promise<string> {
  const { url } = await openHttpServer((_request, response) =>
    response.writeHead(201, { 'x-request-id': 'req_1' }).end(JSON.stringify(answer)),
  )
  return url
}

describe('tabwire open', () => {
  test('--print prints only a link to the inspector, which works once', async () => {
    const { code, stdout, stderr } = await service.run(['open', '--print'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#link=[\w-]{22}\n$/)
    expect(stdout).toContain(service.url)
    expect([await taken(stdout.trim()), await taken(stdout.trim())]).toEqual([201, 401])
  })

  test('--json prints the link and its lifetime, and opens nothing', async () => {
    const { url, expires_in_seconds } = await service.json<{ url: string; expires_in_seconds: number }>(
      'open',
    )
    expect([await taken(url), expires_in_seconds]).toEqual([201, 600])
  })

  test('prints the link and says so when there is no browser', async () => {
    const { code, stdout, stderr } = await service.run(['open'], { env: { PATH: await emptyDirectory() } })
    expect(code).toBe(0)
    expect(await taken(stdout.trim())).toBe(201)
    expect(stderr).toContain('Cannot open a browser here.')
  })

  describe.skipIf(process.platform !== 'linux')('of an untrusted service', () => {
    test.each([
      { url: 'file:///tmp/evil.desktop', expires_in_seconds: 600 },
      { code: '@attacker.example/#link=abc', expires_in_seconds: 600 },
    ])('opens nothing when the service answers %j', async (answer) => {
      const { PATH, calls } = await opener()
      const { code, stdout, stderr } = await tabwire(['open', '--url', await liar(answer)], { env: { PATH } })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain('returned no link to its inspector')
      expect(await calls()).toEqual([])
    })

    test.each(['file:///tmp/evil.desktop', '../../evil', 'a\nb', ' ', '', null, { toString: 'x' }])(
      'refuses the code %j, and makes no link',
      async (code) => {
        const client = createClient({ url: await liar({ code, expires_in_seconds: 600 }) })
        await expect(client.inspector.link()).rejects.toThrow('returned no link to its inspector')
      },
    )

    test.each([
      ['http://0.0.0.0:4100', 'http://127.0.0.1:4100'],
      ['http://[::]:4100/v1', 'http://[::1]:4100'],
      ['https://LOCALHOST:443/', 'https://localhost'],
    ])('makes a link to this machine for %s', async (url, origin) => {
      const headers = { 'x-request-id': 'req_1' }
      const fetch = () =>
        Promise.resolve(Response.json({ code: 'abc', expires_in_seconds: 600 }, { headers }))
      expect((await createClient({ url, fetch }).inspector.link()).url).toBe(`${origin}/#link=abc`)
    })

    test('opens the given address, and ignores the address in the response', async () => {
      const { PATH, opened } = await opener()
      const url = await liar({
        code: 'c'.repeat(22),
        url: 'file:///tmp/evil.desktop',
        expires_in_seconds: 600,
      })
      const state = await emptyDirectory()
      const env = { PATH, XDG_STATE_HOME: state }
      const { code, stdout } = await tabwire(['open', '--url', `${url}/v1`], { env })
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${url}/#link=${'c'.repeat(22)}\n` })
      // Without a data directory, the page is among what is the user's own.
      expect(await opened()).toBe(join(state, 'tabwire', 'open.html'))
      expect(await linkIn(await opened())).toBe(`${url}/#link=${'c'.repeat(22)}`)
    })

    // All users of a machine read the arguments of all processes.
    test('passes a page that only its owner can read to the opener of the system, not the link', async () => {
      const { PATH, opened } = await opener()
      const page = join(service.cwd, '.tabwire', 'open.html')
      await writeFile(page, 'older', { mode: 0o666 })
      const { stdout } = await service.run(['open'], { env: { PATH } })
      expect(await opened()).toBe(page)
      expect(((await stat(page)).mode & 0o777).toString(8)).toBe('600')
      expect(await linkIn(page)).toBe(stdout.trim())
      expect(await taken(await linkIn(page))).toBe(201)
      expect((await service.run(['doctor'])).code).toBe(0)
    })

    test('passes nothing but a link to the inspector to the opener of the system', async () => {
      const { PATH, calls } = await opener()
      vi.stubEnv('PATH', PATH)
      onTestFinished(() => void vi.unstubAllEnvs())
      const directory = await emptyDirectory()
      const link = 'http://127.0.0.1:4100/#link=abc'
      expect(await openInBrowser(link, directory)).toBe(true)
      const before = await calls()
      for (const text of [
        'file:///tmp/evil.desktop',
        'http://127.0.0.1:4100/',
        'http://a@127.0.0.1:4100/#link=abc',
        'https://127.0.0.1/x/#link=abc',
        'javascript://127.0.0.1/#link=abc',
        '--help',
        'http://127.0.0.1:4100/#link=abc&calc.exe',
        'http://127.0.0.1:4100/#link=abc\n',
      ])
        expect([text, await openInBrowser(text, directory)]).toEqual([text, false])
      expect(await calls()).toEqual(before)
    })
  })

  test.skipIf(process.platform !== 'linux')(
    'start --open opens a link of its own in the browser',
    async () => {
      const { PATH, opened } = await opener()
      const started = await startService(['--in-memory', '--open'], { env: { PATH } })
      expect(await taken(await linkIn(await opened()))).toBe(201)
      expect(await started.stop()).toMatchObject({ code: 0, stderr: '' })
    },
  )
})
