import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { helpGroups, groups, mainJobs } from '../../src/cli/help.ts'
import { emptyDirectory, tabwire } from '../support/cli.ts'

const manifest = JSON.parse(readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8')) as {
  commands: Record<string, Record<'flags' | 'args', Record<string, { options?: string[] }>>>
}
const ids = Object.keys(manifest.commands)
const names = [...new Set(ids.map((id) => id.split(':', 1)[0] ?? ''))]

test('tabwire without arguments prints four jobs with existing commands, and how to list the rest', async () => {
  const cwd = await emptyDirectory()
  const { code, stdout } = await tabwire([], { cwd })
  expect(code).toBe(0)
  const shown = Array.from(stdout.matchAll(/^ {2}\$ (?:cmd \/c ")?tabwire (.*?)"?$/gm), ([, command = '']) =>
    // A command in the value of a flag is not one of the jobs.
    command.replace(/"\$\(.*?\)"/g, 'VALUE').split(' '),
  )
  expect(shown).toHaveLength(mainJobs().flatMap(({ commands }) => commands).length)
  for (const words of shown) {
    const command = manifest.commands[words.slice(0, 2).join(':')] ?? manifest.commands[words[0] ?? '']
    const flags = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
    expect(Object.keys(command?.flags ?? {})).toEqual(expect.arrayContaining(flags))
  }
  expect(mainJobs()).toHaveLength(4)
  expect(stdout).toContain('tabwire --help')
  expect(stdout.split('\n').length).toBeLessThan(24)
})

test('each command and topic is listed once, under its purpose', () => {
  const listed = helpGroups(names).flatMap(({ names: below }) => below)
  expect([...listed, 'help'].sort()).toEqual([...names].sort())
})

test('the list has existing commands only, and ungrouped ones come last', () => {
  expect(groups.flatMap(({ names: below }) => below).filter((name) => !names.includes(name))).toEqual([])
  expect(helpGroups(['start', 'brand-new', 'help'])).toEqual([
    { heading: 'SERVICE', names: ['start'] },
    { heading: 'MORE', names: ['brand-new'] },
  ])
})

test.each(['requests list', 'deliveries list', 'trigger'])(
  'the help of %s breaks no value',
  async (command) => {
    const cwd = await emptyDirectory()
    const { stdout } = await tabwire([...command.split(' '), '--help'], { cwd })
    const { flags, args } = manifest.commands[command.replace(' ', ':')] ?? { flags: {}, args: {} }
    const values = [...Object.values(flags), ...Object.values(args)].flatMap(({ options = [] }) => options)
    expect(values.length).toBeGreaterThan(7)
    const words = new Set(stdout.split(/[\s,]+|\.\s/))
    expect(values.filter((value) => !words.has(value))).toEqual([])
  },
)
