import { chmod, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openEnvFile } from '../../../src/cli/files/env-file.ts'
import { temporaryDirectory } from '../../support/simulator.ts'
import { expectMode } from '../../support/file-mode.ts'

const variables = { TABWIRE_URL: 'http://127.0.0.1:1' }

describe('an .env file', () => {
  test('that is new is created at the first write, and only its owner can read it', async () => {
    const directory = await temporaryDirectory()
    const file = await openEnvFile(join(directory, '.env'))
    expect(await readdir(directory)).toEqual([])
    await file.write(variables)
    expect(await readFile(join(directory, '.env'), 'utf8')).toBe('TABWIRE_URL=http://127.0.0.1:1\n')
    await expectMode(join(directory, '.env'), 0o600)
    expect(await readdir(directory)).toEqual(['.env'])
  })

  test.skipIf(process.platform === 'win32').each([
    ['a key', { TABWIRE_API_KEY: 'twk_x' }],
    ['a signing secret', { TABWIRE_SIGNING_SECRET: 'whsec_x' }],
  ])('that gets %s becomes readable by its owner only, and this is reported once', async (_what, secret) => {
    const path = join(await temporaryDirectory(), '.env')
    await writeFile(path, 'OTHER=1\n')
    await chmod(path, 0o644)
    const file = await openEnvFile(path)
    expect(await file.write({ ...variables, ...secret })).toBe(
      `${path} now contains a secret, so only you can read it (mode 0644 → 0600).`,
    )
    await expectMode(path, 0o600)
    expect(await file.write(secret)).toBeUndefined()
    expect(await (await openEnvFile(path)).write(secret)).toBeUndefined()
    await expectMode(path, 0o600)
  })

  test('that exists and gets no secret keeps its mode, its other bytes and concurrent changes', async () => {
    const path = join(await temporaryDirectory(), '.env')
    await writeFile(path, 'OTHER=1\n')
    await chmod(path, 0o640)
    const file = await openEnvFile(path)
    const odd = Buffer.from([0x23, 0xff, 0xfe, 0x0a])
    await writeFile(path, odd)
    await file.write(variables)
    expect(await readFile(path)).toEqual(
      Buffer.concat([odd, Buffer.from('TABWIRE_URL=http://127.0.0.1:1\n')]),
    )
    await expectMode(path, 0o640)
  })

  test('that begins with a byte-order mark keeps it, and its first variable is replaced', async () => {
    const path = join(await temporaryDirectory(), '.env')
    await writeFile(path, '\ufeffTABWIRE_URL=old\r\nNAME=Küche\r\n')
    await (await openEnvFile(path)).write(variables)
    expect(await readFile(path, 'utf8')).toBe('\ufeffTABWIRE_URL=http://127.0.0.1:1\r\nNAME=Küche\r\n')
  })

  test.each([
    ['little-endian', Buffer.from('\ufeffPORT=3000\r\n', 'utf16le')],
    ['big-endian', Buffer.from('\ufeffPORT=3000\r\n', 'utf16le').swap16()],
  ])('in UTF-16 is refused, and stays: %s', async (_order, bytes) => {
    const path = join(await temporaryDirectory(), '.env')
    await writeFile(path, bytes)
    await expect(openEnvFile(path)).rejects.toThrow(`Cannot write ${path}: it is UTF-16. Save it as UTF-8.`)
    expect(await readFile(path)).toEqual(bytes)
  })

  test.skipIf(process.platform === 'win32').each(['shared.env', '..env'])(
    'behind a symbolic link is changed in place, and the link stays: %s',
    async (name) => {
      const directory = await temporaryDirectory()
      await writeFile(join(directory, name), 'A=1\n')
      await symlink(name, join(directory, '.env'))
      await (await openEnvFile(join(directory, '.env'))).write(variables)
      expect((await lstat(join(directory, '.env'))).isSymbolicLink()).toBe(true)
      expect(await readFile(join(directory, name), 'utf8')).toMatch(/^A=1\nTABWIRE_URL=/)
    },
  )

  test('that cannot be written is refused when it is opened', async () => {
    const directory = await temporaryDirectory()
    await mkdir(join(directory, 'folder'))
    const missing = join(directory, 'no', '.env')
    await expect(openEnvFile(missing)).rejects.toThrow(`Cannot write ${missing} (ENOENT).`)
    await expect(openEnvFile(join(directory, 'folder'))).rejects.toThrow('(EISDIR). Choose another file.')
    expect(await readdir(directory)).toEqual(['folder'])
  })
})
