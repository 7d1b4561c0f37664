import type { PathLike } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { replaceFile } from '../src/replace-file.ts'

async function twoFiles() {
  const folder = await mkdtemp(join(tmpdir(), 'tabwire-replace-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [from, to] = [join(folder, 'new'), join(folder, 'old')]
  await writeFile(from, 'new')
  await writeFile(to, 'old')
  return { from, to }
}

/** Renames as on Windows while another program has the file open: so many times not at all. */
function heldOpen(times: number, code: string) {
  const seen = { tries: 0 }
  const move = async (from: PathLike, to: PathLike) => {
    if (seen.tries++ < times) throw Object.assign(new Error('held open'), { code })
    await rename(from, to)
  }
  return { seen, how: { move, pausesMs: [1, 1, 1, 1, 1, 1, 1] } }
}

describe('DUR-28 a file that another program holds open', () => {
  test.each(['EPERM', 'EBUSY', 'EACCES'])(
    'is replaced after five errors with %s, when the program closes it',
    async (code) => {
      const { from, to } = await twoFiles()
      const { seen, how } = heldOpen(5, code)
      await replaceFile(from, to, how)
      expect(seen.tries).toBe(6)
      expect(await readFile(to, 'utf8')).toBe('new')
      await expect(readFile(from)).rejects.toMatchObject({ code: 'ENOENT' })
    },
  )

  test('stays unchanged when the program never closes it, and the error is returned', async () => {
    const { from, to } = await twoFiles()
    const { seen, how } = heldOpen(Infinity, 'EPERM')
    await expect(replaceFile(from, to, how)).rejects.toMatchObject({ code: 'EPERM' })
    expect(seen.tries).toBe(8)
    expect(await readFile(to, 'utf8')).toBe('old')
    expect(await readFile(from, 'utf8')).toBe('new')
  })

  test('is not retried after another error', async () => {
    const { from, to } = await twoFiles()
    const { seen, how } = heldOpen(Infinity, 'ENOSPC')
    await expect(replaceFile(from, to, how)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(seen.tries).toBe(1)
  })
})
