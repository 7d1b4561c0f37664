import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { emptyDirectory, serve, startService, type RunningService } from '../support/cli.ts'

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
async function opener(): Promise<{ PATH: string; opened: () => Promise<string> }> {
  const directory = await emptyDirectory()
  const [program, file] = [join(directory, 'xdg-open'), join(directory, 'opened')]
  await writeFile(program, `#!/bin/sh\nprintf %s "$1" > '${file}.new' && /bin/mv '${file}.new' '${file}'\n`)
  await chmod(program, 0o755)
  return {
    PATH: directory,
    async opened() {
      for (;;) {
        const text = await readFile(file, 'utf8').catch(() => undefined)
        if (text !== undefined) return text
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

describe('tabwire open', () => {
  test('--print prints a link to the inspector, which is good once, and nothing else', async () => {
    const { code, stdout, stderr } = await service.run(['open', '--print'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#link=[\w-]{22}\n$/)
    expect(stdout).toContain(service.url)
    expect([await taken(stdout.trim()), await taken(stdout.trim())]).toEqual([204, 401])
  })

  test('--json prints what the API answers, and opens nothing', async () => {
    const { url, expires_in_seconds } = await service.json<{ url: string; expires_in_seconds: number }>(
      'open',
    )
    expect([await taken(url), expires_in_seconds]).toEqual([204, 600])
  })

  test('without a browser prints the link, and says so', async () => {
    const { code, stdout, stderr } = await service.run(['open'], { env: { PATH: await emptyDirectory() } })
    expect(code).toBe(0)
    expect(await taken(stdout.trim())).toBe(204)
    expect(stderr).toContain('No browser could be opened here.')
  })

  test.skipIf(process.platform !== 'linux')(
    'start --open opens a link of its own in the browser',
    async () => {
      const { PATH, opened } = await opener()
      const started = await startService(['--in-memory', '--open'], { env: { PATH } })
      expect(await taken(await opened())).toBe(204)
      expect(await started.stop()).toMatchObject({ code: 0, stderr: '' })
    },
  )
})
