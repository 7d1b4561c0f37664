import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  readCredentials,
  readReplaceable,
  readRun,
  removeRun,
  writeCredentials,
  writeRun,
} from '../src/data-directory.ts'
import { expectMode } from './support/file-mode.ts'

let parent: string
let directory: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'tabwire-data-'))
  directory = join(parent, 'deep', '.tabwire')
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const run = { url: 'http://127.0.0.1:4100', pid: 4711, started_at: '2026-11-21T18:04:05.123Z' }

describe('the data directory', () => {
  test('is readable by its owner only, and ignored by git', async () => {
    await writeCredentials(directory, { api_key: 'twk_1' })
    await writeRun(directory, run)
    await expectMode(directory, 0o700)
    for (const name of ['credentials.json', 'run.json']) await expectMode(join(directory, name), 0o600)
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('*\n')
    expect((await readdir(directory)).sort()).toEqual(['.gitignore', 'credentials.json', 'run.json'])
  })

  test('returns the written credentials and the written run', async () => {
    await writeCredentials(directory, { api_key: 'twk_1' })
    await writeRun(directory, { ...run, ca: 'PEM', api_key: 'twk_2' })
    expect(await readCredentials(directory)).toEqual({ api_key: 'twk_1' })
    expect(await readRun(directory)).toEqual({ ...run, ca: 'PEM', api_key: 'twk_2' })
  })

  test('restricts a file that others could read, and keeps an existing .gitignore', async () => {
    await writeCredentials(directory, { api_key: 'twk_1' })
    await chmod(join(directory, 'credentials.json'), 0o644)
    await writeFile(join(directory, '.gitignore'), 'mine\n')
    await writeCredentials(directory, { api_key: 'twk_2' })
    await expectMode(join(directory, 'credentials.json'), 0o600)
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('mine\n')
  })

  test('replaces an empty .gitignore, which a full disk left', async () => {
    await writeCredentials(directory, { api_key: 'twk_1' })
    await writeFile(join(directory, '.gitignore'), '')
    await writeRun(directory, run)
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('*\n')
  })

  test.each([
    '',
    '{',
    'null',
    '42',
    '"twk_1"',
    '[]',
    '{}',
    '{"api_key":42,"url":7}',
    '{"api_key":"","url":"nonsense","pid":1}',
  ])('treats damaged files as missing: %s', async (content) => {
    await writeRun(directory, run)
    await writeFile(join(directory, 'credentials.json'), content)
    await writeFile(join(directory, 'run.json'), content)
    expect(await readCredentials(directory)).toBeUndefined()
    expect(await readRun(directory)).toBeUndefined()
  })

  test('has unreadable credentials, which commands lack and a start must not replace', async () => {
    await mkdir(join(directory, 'credentials.json'), { recursive: true })
    expect(await readCredentials(directory)).toBeUndefined()
    await expect(readCredentials(directory, readReplaceable)).rejects.toMatchObject({ code: 'EISDIR' })
  })

  test('has no credentials and no run when it does not exist', async () => {
    expect(await readCredentials(directory)).toBeUndefined()
    expect(await readCredentials(directory, readReplaceable)).toBeUndefined()
    expect(await readRun(directory)).toBeUndefined()
    await removeRun(directory, run.pid)
  })

  test('removes run.json when its service ends, but not when another service has replaced it', async () => {
    await writeRun(directory, run)
    await removeRun(directory, run.pid + 1)
    expect(await readRun(directory)).toEqual(run)
    // Process ids of containers are often equal.
    const elsewhere = { ...run, hostname: 'another-container' }
    await writeRun(directory, elsewhere)
    await removeRun(directory, run.pid)
    expect(await readRun(directory)).toEqual(elsewhere)
    await writeRun(directory, run)
    await removeRun(directory, run.pid)
    expect(await readdir(directory)).toEqual(['.gitignore'])
  })
})
