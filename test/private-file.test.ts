import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { openSecretFile } from '../src/cli/files/secrets.ts'
import { openEnvFile } from '../src/cli/files/env-file.ts'
import { writeStateTo } from '../src/cli/files/state-files.ts'
import { writeCredentials, writeRun } from '../src/data-directory.ts'
import { createClockFile } from '../src/delivery/clock-file.ts'
import { stateText } from '../src/model/simulator/record-lines.ts'
import { createPrivateFile, openPrivateFile, writePrivateFile } from '../src/private-file.ts'
import { tabwire } from './support/cli.ts'
import { temporaryDirectory } from './support/simulator.ts'
import { expectMode } from './support/file-mode.ts'

const run = { url: 'http://127.0.0.1:1', pid: 1, started_at: '2026-01-01T00:00:00Z' }

async function writeSecret(path: string): Promise<void> {
  const file = await openSecretFile(path)
  try {
    await file.write('whsec_new')
  } finally {
    await file.close()
  }
}

async function* stateJson() {
  yield Buffer.from([...stateText({ clock: { now: '', frozen: true } })].join(''))
}

/** Everything that writes a secret, with the file that it writes in a directory. */
const writers: [name: string, write: (directory: string) => Promise<unknown>][] = [
  ['credentials.json', (directory) => writeCredentials(directory, { api_key: 'twk_new' })],
  ['run.json', (directory) => writeRun(directory, run)],
  ['clock.json', (directory) => createClockFile(directory).save(7)],
  ['states/a.json', (directory) => writeStateTo({ directory, name: 'a' }, stateJson())],
  ['saved.json', (directory) => writeStateTo({ file: join(directory, 'saved.json') }, stateJson())],
  ['secret', (directory) => writeSecret(join(directory, 'secret'))],
  ['plain', (directory) => writePrivateFile(join(directory, 'plain'), 'new')],
  [
    'localhost-key.pem',
    async (cwd) => {
      const { code, stderr } = await tabwire(['certs', 'create', 'localhost', '--force'], { cwd })
      if (code !== 0) throw new Error(stderr)
    },
  ],
]

describe('a file that is created once', () => {
  const create = (path: string, isValid: boolean) =>
    createPrivateFile(
      path,
      (draft) => writePrivateFile(draft, 'new'),
      () => Promise.resolve(isValid),
    )

  test('stays when another process has created it', async () => {
    const directory = await temporaryDirectory()
    const path = join(directory, 'secret')
    await create(path, false)
    await writeFile(path, 'another')
    await create(path, true)
    expect(await readFile(path, 'utf8')).toBe('another')
    expect(await readdir(directory)).toEqual(['secret'])
  })

  test('is replaced when it is damaged', async () => {
    const directory = await temporaryDirectory()
    const path = join(directory, 'secret')
    await writeFile(path, 'damaged')
    await create(path, false)
    expect(await readFile(path, 'utf8')).toBe('new')
    expect(await readdir(directory)).toEqual(['secret'])
  })

  test('leaves no draft when it cannot be written', async () => {
    const directory = await temporaryDirectory()
    await mkdir(join(directory, 'secret'))
    await expect(create(join(directory, 'secret'), false)).rejects.toThrow()
    expect(await readdir(directory)).toEqual(['secret'])
  })
})

describe.each(writers)('%s', (name, write) => {
  test('replaces an existing file, and keeps neither its open mode nor its text', async () => {
    const directory = await temporaryDirectory()
    const path = join(directory, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, 'old text that is longer than what comes'.repeat(100))
    await chmod(path, 0o666)
    const { ino } = await stat(path)
    await write(directory)
    await expectMode(path, 0o600)
    expect(await readFile(path, 'utf8')).not.toContain('old text')
    // A process that had the file open reads nothing of the new content.
    expect((await stat(path)).ino).not.toBe(ino)
    expect((await readdir(join(path, '..'))).filter((one) => one.endsWith('.tmp'))).toEqual([])
  })

  test.skipIf(process.platform === 'win32')('does not follow a symbolic link', async () => {
    const directory = await temporaryDirectory()
    const victim = join(directory, 'victim')
    const path = join(directory, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(victim, 'mine')
    await symlink(victim, path)
    await expect(write(directory)).rejects.toThrow('a symbolic link')
    expect(await readFile(victim, 'utf8')).toBe('mine')
    expect((await lstat(path)).isSymbolicLink()).toBe(true)
    expect((await readdir(join(path, '..'))).filter((one) => one.endsWith('.tmp'))).toEqual([])
  })
})

describe('a private file', () => {
  test.skipIf(process.platform === 'win32')(
    'does not follow a symbolic link that is created while the file is open',
    async () => {
      const directory = await temporaryDirectory()
      const path = join(directory, 'a')
      await writeFile(join(directory, 'victim'), 'mine')
      const draft = await openPrivateFile(path)
      await symlink(join(directory, 'victim'), path)
      await expect(draft.replace('secret')).rejects.toThrow('a symbolic link')
      await draft.discard()
      expect(await readFile(join(directory, 'victim'), 'utf8')).toBe('mine')
      expect((await readdir(directory)).sort()).toEqual(['a', 'victim'])
    },
  )

  test('is not put in place of a directory', async () => {
    const path = join(await temporaryDirectory(), 'a')
    await mkdir(path)
    await expect(writePrivateFile(path, 'secret')).rejects.toMatchObject({
      code: 'EISDIR',
      message: `${path} is a directory.`,
    })
  })

  test('has a temporary file with a random name that only its owner can read', async () => {
    const directory = await temporaryDirectory()
    const drafts = [await openPrivateFile(join(directory, 'a')), await openPrivateFile(join(directory, 'a'))]
    const names = await readdir(directory)
    expect(names.map((name) => /^\.a\.[\w-]{22}\.tmp$/.test(name))).toEqual([true, true])
    for (const name of names) await expectMode(join(directory, name), 0o600)
    for (const draft of drafts) await draft.discard()
    expect(await readdir(directory)).toEqual([])
  })

  test.skipIf(process.platform === 'win32')(
    'with a secret can be a pipe or device, such as /dev/stdout',
    async () => {
      const pipe = join(await temporaryDirectory(), 'pipe')
      await promisify(execFile)('mkfifo', [pipe])
      const text = readFile(pipe, 'utf8')
      const file = await openSecretFile(pipe)
      await file.write('whsec_new')
      await file.close()
      expect(await text).toContain('whsec_new')
      expect((await lstat(pipe)).isFIFO()).toBe(true)
    },
  )
})

test.skipIf(process.platform === 'win32')(
  'an .env file that is a symbolic link out of its folder is refused',
  async () => {
    const directory = await temporaryDirectory()
    await mkdir(join(directory, 'clone'))
    await writeFile(join(directory, '.bashrc'), 'mine')
    await symlink('../.bashrc', join(directory, 'clone', '.env'))
    await expect(openEnvFile(join(directory, 'clone', '.env'))).rejects.toThrow(
      '(a symbolic link out of its folder). Choose another file.',
    )
    expect(await readFile(join(directory, '.bashrc'), 'utf8')).toBe('mine')
  },
)

test('certs create replaces its own files, and files of other programs only with --force', async () => {
  const cwd = await temporaryDirectory()
  const create = (...more: string[]) => tabwire(['certs', 'create', 'localhost', ...more], { cwd })
  for (const name of ['localhost.pem', 'localhost-key.pem']) {
    await writeFile(join(cwd, name), 'mine')
    expect(await create()).toMatchObject({
      code: 1,
      stderr: `Error: ${name} exists, and Tabwire did not write it. Choose another directory with --out, or pass --force.\n`,
    })
    expect(await readdir(cwd)).toEqual([name])
    await rm(join(cwd, name))
  }
  await writeFile(join(cwd, 'localhost.pem'), 'mine')
  const written: string[] = []
  for (const flags of [['--force'], []]) {
    expect(await create(...flags)).toMatchObject({ code: 0 })
    written.push(await readFile(join(cwd, 'localhost.pem'), 'utf8'))
  }
  expect(written[0]).not.toBe(written[1])
})

test('certs create names the hosts that its authority can certify, and refuses other hosts', async () => {
  const cwd = await temporaryDirectory()
  expect(await tabwire(['certs', 'create', 'https://localhost'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('HOST must be a host name or IP address without scheme') as string,
  })
  expect(await readdir(cwd)).toEqual([])
  const made = await tabwire(['certs', 'create', 'localhost'], { cwd })
  expect(made.stdout).toMatch(
    /This authority can certify hosts of this machine, of local networks, and those it was created for\. It expires on \d{4}-\d\d-\d\d\.\n$/,
  )
  const refused = await tabwire(['certs', 'create', 'bank.example.com'], { cwd })
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('The local authority cannot certify bank.example.com') as string,
  ])
  expect(await readdir(cwd)).not.toContain('bank.example.com.pem')
})
