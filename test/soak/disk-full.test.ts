import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bin, checkBody, emptyDirectory, spawnProcess, startService } from '../support/cli.ts'
import { isSoak } from './seeded.ts'
const works = (file: string, ...args: string[]) => spawnSync(file, args, { stdio: 'ignore' }).status === 0

interface Full {
  url: string
  key: string
  /** Where the data is, for the next start. */
  dataDirectory: string
  makeRoom(): Promise<void>
  kill(): Promise<unknown>
}

/** A service whose files are limited to 96 KiB until the limit is lifted. */
async function limited(): Promise<Full> {
  const cwd = await emptyDirectory()
  const line = `ulimit -S -f 96; exec "$0" "$@"`
  const command = ['-c', line, process.execPath, bin, 'start', '--json', '--port', '0']
  const running = await spawnProcess('bash', command, { cwd })
  const ready = JSON.parse((await running.until('stdout', /\n/)).split('\n')[0] ?? '') as Ready
  return {
    url: ready.url,
    key: ready.api_key,
    dataDirectory: join(cwd, '.tabwire'),
    async makeRoom() {
      expect(works('prlimit', '--pid', String(running.child.pid), '--fsize=unlimited')).toBe(true)
    },
    kill: async () => {
      running.child.kill('SIGKILL')
      await running.ended
    },
  }
}

interface Ready {
  url: string
  api_key: string
}

/** A service on a file system of half a MiB, mostly used by another file until it is removed. */
async function mounted(): Promise<Full> {
  const place = await emptyDirectory()
  expect(works('mount', '-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', place)).toBe(true)
  onTestFinished(() => void spawnSync('umount', ['--lazy', place]))
  const dataDirectory = join(place, 'data')
  await mkdir(dataDirectory)
  const service = await startService(['--data-dir', dataDirectory])
  const filler = join(place, 'filler')
  await writeFile(filler, Buffer.alloc(400 * 1024))
  return {
    url: service.url,
    key: service.key,
    dataDirectory,
    makeRoom: () => rm(filler),
    kill: () => service.stop('SIGKILL'),
  }
}

const canLimit = process.platform === 'linux' && works('prlimit', '--fsize')

/** Outside the soak, one of them is enough. */
const media: readonly [name: string, isAvailable: boolean, start: () => Promise<Full>][] = [
  ['a limit to the size of files', canLimit, limited],
  ['a small file system', (isSoak || !canLimit) && canMount(), mounted],
]

/** Root may not do so everywhere: some containers forbid it. */
function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const place = mkdtempSync(join(tmpdir(), 'tabwire-mount-'))
  const isMounted = works('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', place)
  if (isMounted) works('umount', place)
  rmdirSync(place)
  return isMounted
}

describe.each(media)('a disk that is full by %s', (_name, isAvailable, start) => {
  test.skipIf(!isAvailable)(
    'refuses pushes that it cannot store, keeps the others, and continues by itself',
    async () => {
      const full = await start()
      const push = (id: string) => call(full, 'PUT', id, checkBody({ items: largeItems }))
      const acknowledged = new Map<string, string>()
      let refused: Answer | undefined
      for (let n = 0; refused === undefined; n += 1) {
        const answer = await push(`c-${n}`)
        if (answer.status === 201) acknowledged.set(`c-${n}`, answer.text)
        else refused = answer
      }
      expect(acknowledged.size).toBeGreaterThan(1)
      expect(refused).toMatchObject({ status: 503 })
      expect(refused.text).toContain('storage_unavailable')
      const lost = `c-${acknowledged.size}`
      expect(await push(lost)).toMatchObject({ status: 503 })
      for (const [id, text] of acknowledged) expect((await call(full, 'GET', id)).text).toBe(text)
      expect(await call(full, 'GET', lost)).toMatchObject({ status: 404 })

      await full.makeRoom()
      acknowledged.set('later', (await push('later')).text)
      await full.kill()
      const again = await startService(['--data-dir', full.dataDirectory])
      for (const [id, text] of acknowledged) expect((await call(again, 'GET', id)).text).toBe(text)
      expect(await call(again, 'GET', lost)).toMatchObject({ status: 404 })
      expect(await again.stop()).toMatchObject({ code: 0 })
    },
  )
})

interface Answer {
  status: number
  text: string
}

async function call(
  { url, key }: Pick<Full, 'url' | 'key'>,
  method: string,
  id: string,
  body?: unknown,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/checks/external/${id}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

/** Some ten kilobytes of them. */
const largeItems = Array.from({ length: 10 }, (_, index) => ({
  external_id: `line-${index}`,
  name: 'Copper Burger',
  quantity: 1,
  price_cents: 1450,
  note: 'x'.repeat(1000),
}))
