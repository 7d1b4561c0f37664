import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { emptyDirectory, fixtures, tabwire } from '../support/cli.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'

describe.concurrent('tabwire openapi', () => {
  test('prints the document offline, and the same with --json', async () => {
    const published = await readFile(`${fixtures}openapi.json`, 'utf8')
    for (const more of [[], ['--json']])
      expect(await tabwire(['openapi', ...more])).toMatchObject({ code: 0, stdout: published, stderr: '' })
  })

  test.skipIf(!hasTerminals)(`prints indented JSON ${onTerminal}`, async () => {
    const printing = await tabwireOnTerminal(['openapi', '--no-simulator'])
    await printing.shows(/^\{\s*\n {2}"openapi": "3\.1\.1",/)
    expect(await printing.left()).toMatchObject({ code: 0 })
  })

  test('--no-simulator prints the document of a real service, with its URL and name', async () => {
    const args = ['--no-simulator', '--url', 'https://api.example.org/v1/', '--service-name', 'Acme']
    const { code, stdout } = await tabwire(['openapi', ...args])
    expect(code).toBe(0)
    const { servers } = JSON.parse(stdout) as { servers: unknown }
    expect(servers).toMatchObject([{ url: 'https://api.example.org' }])
    expect(stdout).toContain('"X-Acme-Signature"')
    expect(stdout).not.toContain('"/_sim/')
  })

  test('refuses an invalid URL with exit code 2', async () => {
    const { code, stdout, stderr } = await tabwire(['openapi', '--url', 'api.example.org'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(
      '--url must be an http: or https: URL, got "api.example.org". Did you mean https://api.example.org?',
    )
  })
})

describe.concurrent('tabwire openapi --as', () => {
  test.each(['http', 'postman'])(
    '%s writes a file, and replaces another one with --force only',
    async (as) => {
      const cwd = await emptyDirectory()
      const write = (...more: string[]) =>
        tabwire(['openapi', '--as', as, '--out', 'requests', ...more], { cwd })
      expect(await write()).toMatchObject({
        code: 0,
        stdout: 'Wrote requests. Set the variable apiKey before you send a request.\n',
        stderr: '',
      })
      const text = await readFile(join(cwd, 'requests'), 'utf8')
      expect(await write()).toMatchObject({ code: 0 })
      await writeFile(join(cwd, 'requests'), 'mine')
      expect(await write()).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'Error: requests exists and differs. Pass --force to replace it.\n',
      })
      expect(await readFile(join(cwd, 'requests'), 'utf8')).toBe('mine')
      expect(await write('--force')).toMatchObject({ code: 0 })
      expect(await readFile(join(cwd, 'requests'), 'utf8')).toBe(text)
    },
  )

  test('bruno writes a folder, and nothing when one of its files differs', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, 'requests'))
    await writeFile(join(cwd, 'requests', 'bruno.json'), '{}')
    const args = ['openapi', '--as', 'bruno', '--out', 'requests', '--json']
    expect(await tabwire(args, { cwd })).toMatchObject({ code: 1 })
    expect(await readdir(join(cwd, 'requests'))).toEqual(['bruno.json'])
    const { code, stdout } = await tabwire([...args, '--force'], { cwd })
    expect(code).toBe(0)
    const { files } = JSON.parse(stdout) as { files: string[] }
    expect(files.slice(0, 2)).toEqual([
      join('requests', 'bruno.json'),
      join('requests', 'environments', 'local.bru'),
    ])
    for (const file of files) expect((await readFile(join(cwd, file), 'utf8')).length).toBeGreaterThan(10)
  })

  test.skipIf(process.platform === 'win32')('refuses a link out of the folder', async () => {
    const cwd = await emptyDirectory()
    const elsewhere = await emptyDirectory()
    await symlink(elsewhere, join(cwd, 'requests'))
    const args = ['openapi', '--as', 'bruno', '--out', 'requests', '--force']
    expect(await tabwire(args, { cwd })).toMatchObject({
      code: 1,
      stderr: 'Error: Cannot write requests (a symbolic link). Choose another path with --out.\n',
    })
    expect(await readdir(elsewhere)).toEqual([])
  })

  test.each([['--as', 'http'], ['--out', 'requests'], ['--force']])(
    'needs both --as and --out: %s',
    async (...args) => {
      expect(await tabwire(['openapi', ...args])).toMatchObject({ code: 2, stdout: '' })
    },
  )
})
