import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyDirectory, fixtures, tabwire } from '../support/cli.ts'
import { expectMode } from '../support/file-mode.ts'

const skill = await readFile(join(fixtures, 'skills/tabwire/SKILL.md'), 'utf8')

test('skill prints the published file', async () => {
  expect(await tabwire(['skill'])).toEqual({ code: 0, signal: null, stdout: skill, stderr: '' })
  const { stdout } = await tabwire(['skill', '--json'])
  expect(JSON.parse(stdout)).toEqual({ file: 'SKILL.md', text: skill })
})

test('skill --llms prints the index', async () => {
  const { stdout } = await tabwire(['skill', '--llms'])
  expect(stdout).toBe(await readFile(join(fixtures, 'llms.txt'), 'utf8'))
})

test('skill --write creates the folders, and writes the file once', async () => {
  const cwd = await emptyDirectory()
  const file = join('.claude', 'skills', 'tabwire', 'SKILL.md')
  const write = (...more: string[]) => tabwire(['skill', '--write', '.claude/skills', ...more], { cwd })
  expect(await write()).toMatchObject({ code: 0, stdout: `Wrote ${file}.\n` })
  expect(await readFile(join(cwd, file), 'utf8')).toBe(skill)
  await expectMode(join(cwd, file), 0o644)
  expect(await write()).toMatchObject({ code: 0, stdout: `${file} is up to date.\n` })

  await writeFile(join(cwd, file), 'of my own')
  expect(await write()).toMatchObject({
    code: 1,
    stderr: `Error: ${file} exists and differs from the skill of this version. Pass --force to replace it.\n`,
  })
  expect(await readFile(join(cwd, file), 'utf8')).toBe('of my own')
  expect(await write('--force', '--json')).toMatchObject({ code: 0 })
  expect(await readFile(join(cwd, file), 'utf8')).toBe(skill)
  expect(await readdir(join(cwd, '.claude/skills/tabwire'))).toEqual(['SKILL.md'])
})

test.skipIf(process.platform === 'win32')(
  'skill --write follows no symbolic link, even with --force',
  async () => {
    const cwd = await emptyDirectory()
    const elsewhere = await emptyDirectory()
    await writeFile(join(elsewhere, 'SKILL.md'), 'elsewhere')
    await mkdir(join(cwd, 'a'))
    await symlink(elsewhere, join(cwd, 'a', 'tabwire'))
    await mkdir(join(cwd, 'b', 'tabwire'), { recursive: true })
    await symlink(join(elsewhere, 'SKILL.md'), join(cwd, 'b', 'tabwire', 'SKILL.md'))
    for (const folder of ['a', 'b']) {
      const { code, stderr } = await tabwire(['skill', '--write', folder, '--force'], { cwd })
      expect(code).toBe(1)
      expect(stderr).toMatch(/^Error: Cannot write .*Choose another folder with --write\.\n$/s)
    }
    expect(await readFile(join(elsewhere, 'SKILL.md'), 'utf8')).toBe('elsewhere')
  },
)

test('skill refuses invalid flags and folders', async () => {
  expect(await tabwire(['skill', '--force'])).toMatchObject({ code: 2 })
  expect(await tabwire(['skill', '--write', 'x', '--llms'])).toMatchObject({ code: 2 })
  expect(await tabwire(['skill', '--write', '-'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--write must be a folder, got "-".') as string,
  })
  const cwd = await emptyDirectory()
  await writeFile(join(cwd, 'file'), '')
  expect(await tabwire(['skill', '--write', 'file'], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Cannot write') as string,
  })
})
