import { describe, expect, it } from 'vitest'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { put, remove } from '../../src/model/records.ts'
import { DirectoryUnusable, unusable } from '../../src/store/errors.ts'
import { copyOf, newDirectory, openStore, tidyUp } from './folder.ts'
import { check, delivery, idOf, save, saveChecks, storedChecks } from './records.ts'
import { storeSuite } from './store-suite.ts'
import { expectMode } from '../support/file-mode.ts'

tidyUp()
storeSuite('the file store', async () => openStore(await newDirectory()))

describe('the file store, opened again', () => {
  it('has everything, from the journal of a process that was killed', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await saveChecks(store, 1, 2, 3)
    await save(store, remove('checks', idOf('chk', 2)), put('deliveries', delivery(1)))
    const copy = await copyOf(directory)
    const again = await openStore(copy)
    expect(await storedChecks(again)).toEqual([1, 3])
    expect(await again.find('deliveries', 'pending_of', 'we_1')).toEqual([delivery(1)])
  })

  it('has everything after close, compacted into a readable snapshot', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await saveChecks(store, 1, 2)
    await store.close()
    expect(await readFile(join(directory, 'journal.ndjson'), 'utf8')).toBe('')
    const text = await readFile(join(directory, 'db.json'), 'utf8')
    expect(text.split('\n')).toContain(`    ${JSON.stringify(check(1))},`)
    expect(JSON.parse(text)).toMatchObject({ format: 1, sequence: 2, checks: [check(1), check(2)] })
    expect(await storedChecks(await openStore(directory))).toEqual([1, 2])
  })

  it('keeps any text unchanged', async () => {
    const directory = await newDirectory()
    const external_id = 'é\u2028\n"\\\u0000😀\ud800'
    const store = await openStore(directory)
    await save(store, put('checks', check(1, { external_id })))
    const again = await openStore(await copyOf(directory))
    expect((await again.get('checks', idOf('chk', 1)))?.external_id).toBe(external_id)
    await again.close()
    await store.close()
    const compacted = await openStore(directory)
    expect((await compacted.get('checks', idOf('chk', 1)))?.external_id).toBe(external_id)
  })

  it('refuses transactions after close', async () => {
    const store = await openStore(await newDirectory())
    await store.close()
    await expect(store.get('checks', 'chk_1')).rejects.toMatchObject({ code: 'shutting_down' })
  })
})

describe('the directory', () => {
  it('is private to its owner, and out of version control', async () => {
    const directory = await newDirectory()
    const store = await openStore(directory)
    await saveChecks(store, 1)
    await store.close()
    await expectMode(directory, 0o700)
    for (const name of await readdir(directory)) await expectMode(join(directory, name), 0o600)
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('*\n')
  })

  it('keeps an existing .gitignore', async () => {
    const directory = await newDirectory()
    await (await openStore(directory)).close()
    await writeFile(join(directory, '.gitignore'), 'mine\n')
    await openStore(directory)
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('mine\n')
  })

  it('gets a .gitignore again in place of an empty one, which a full disk left', async () => {
    const directory = await newDirectory()
    await (await openStore(directory)).close()
    await writeFile(join(directory, '.gitignore'), '')
    await (await openStore(directory)).close()
    expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('*\n')
  })

  it('cannot be a file, or lie below one', async () => {
    const directory = await newDirectory()
    await writeFile(directory, '')
    await expect(openStore(directory)).rejects.toThrow(DirectoryUnusable)
    await expect(openStore(join(directory, 'below'))).rejects.toThrow(
      /Cannot use below: a part of the path is a file, not a directory/,
    )
  })

  it.runIf(process.platform === 'linux')('cannot be on a file system that accepts no files', async () => {
    await expect(openStore('/proc/tabwire')).rejects.toThrow(DirectoryUnusable)
  })

  it.each([
    ['ENOSPC', 'Free disk space, or choose another directory.'],
    ['EMFILE', 'Raise the limit of open files and restart the service, or choose another directory.'],
    ['EACCES', 'Make it readable and writable for this user, or choose another directory.'],
  ])('has advice that fits the cause: %s', (code, advice) => {
    const { message } = unusable('.tabwire', Object.assign(new Error('no'), { code }))
    expect(message).toMatch(new RegExp(`^Cannot use \\.tabwire: .+ \\(${code}\\)\\. ${advice}$`))
  })

  it.each([
    ['EBUSY', 'another program has the file open', 'Close that program'],
    [
      'EPERM',
      'permission denied, or another program has the file open',
      'Make it readable and writable for this user',
    ],
  ])('says on Windows that another program has a file open: %s', (code, reason, advice) => {
    const { message } = unusable('.tabwire/db.json', Object.assign(new Error('no'), { code }), 'win32')
    expect(message).toBe(
      `Cannot use .tabwire/db.json: ${reason} (${code}). ${advice}, or choose another directory.`,
    )
  })

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'must be writable by this user',
    async () => {
      const directory = await newDirectory()
      await mkdir(directory)
      await chmod(directory, 0o500)
      await expect(openStore(directory)).rejects.toThrow(/permission denied/)
    },
  )
})
