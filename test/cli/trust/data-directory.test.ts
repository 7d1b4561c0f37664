import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { entriesOf, trackedFile } from '../../../src/cli/trust/data-directory.ts'
import { emptyDirectory } from '../../support/cli.ts'

function git(cwd: string, ...args: string[]): void {
  const names = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  execFileSync('git', [...names, ...args], { cwd, stdio: 'ignore' })
}

/** A repository with these files in its index, made by git. */
async function repository(files: readonly string[], ...options: string[]): Promise<string> {
  const cwd = await emptyDirectory()
  git(cwd, 'init', ...options)
  for (const file of files) {
    await mkdir(join(cwd, file, '..'), { recursive: true })
    await writeFile(join(cwd, file), file)
  }
  git(cwd, 'add', '--force', '.')
  return cwd
}

const none = () => false
const files = [
  'a',
  'sub/.tabwire/run.json',
  'sub/.tabwire.md',
  `${'x'.repeat(200)}/${'y'.repeat(200)}/b`,
  'wörld',
  'z',
]

describe('the files that git tracks', () => {
  test.each([['2'], ['3'], ['4']])('are read from an index of version %s', async (version) => {
    const cwd = await repository(files)
    // Version 3 is what git writes once an entry has more flags.
    if (version === '3') {
      await writeFile(join(cwd, 'later'), '')
      git(cwd, 'add', '--intent-to-add', 'later')
    } else git(cwd, 'update-index', '--index-version', version)
    const index = await readFile(join(cwd, '.git', 'index'))
    expect(index.readUInt32BE(4)).toBe(Number(version))
    const found = [...entriesOf(index, 20)].map((name) => Buffer.from(name, 'latin1').toString())
    expect(found.sort()).toEqual([...files, ...(version === '3' ? ['later'] : [])].sort())
    expect(await trackedFile(join(cwd, 'sub', '.tabwire'), none)).toBe('sub/.tabwire/run.json')
    expect(await trackedFile(join(cwd, '.tabwire'), none)).toBeUndefined()
  })

  test('are read in a repository with SHA-256 object names', async () => {
    const cwd = await repository(files, '--object-format=sha256')
    expect(await trackedFile(join(cwd, 'sub', '.tabwire'), none)).toBe('sub/.tabwire/run.json')
  })

  test('are found in a linked work tree', async () => {
    const cwd = await repository(['.tabwire/run.json'])
    git(cwd, 'commit', '-m', 'a')
    const linked = join(await emptyDirectory(), 'linked')
    git(cwd, 'worktree', 'add', linked)
    expect(await trackedFile(join(linked, '.tabwire'), none)).toBe('.tabwire/run.json')
  })

  test('are found in a folder whose name is not ASCII', async () => {
    const cwd = await repository(['Küche/.tabwire/run.json'])
    expect(await trackedFile(join(cwd, 'Küche', '.tabwire'), none)).toBe('Küche/.tabwire/run.json')
  })

  test('are found in any case of letters, because some file systems ignore case', async () => {
    const cwd = await repository(['.Tabwire/Run.json'])
    expect(await trackedFile(join(cwd, '.tabwire'), none)).toBe('.Tabwire/Run.json')
  })

  test('are selected by the given function when the folder is the work tree itself', async () => {
    const cwd = await repository(['README.md', 'run.json'])
    expect(await trackedFile(cwd, (path) => path === 'run.json')).toBe('run.json')
    expect(await trackedFile(cwd, none)).toBeUndefined()
  })

  test('are found without running programs of the repository’s configuration', async () => {
    const cwd = await repository(['.tabwire/run.json'])
    const proof = join(cwd, 'executed')
    await appendFile(join(cwd, '.git', 'config'), `[core]\n\tfsmonitor = "touch '${proof}'; false"\n`)
    expect(await trackedFile(join(cwd, '.tabwire'), none)).toBe('.tabwire/run.json')
    await expect(readFile(proof)).rejects.toThrow('ENOENT')
  })

  test('are empty outside a repository, and those before the damage in a damaged index', async () => {
    expect(await trackedFile(join(await emptyDirectory(), '.tabwire'), none)).toBeUndefined()
    const index = await readFile(join(await repository(['a', 'b', 'c']), '.git', 'index'))
    for (let length = 0; length < index.length; length++)
      expect(['a', 'b', 'c'].slice(0, [...entriesOf(index.subarray(0, length), 20)].length)).toEqual([
        ...entriesOf(index.subarray(0, length), 20),
      ])
  })
})
