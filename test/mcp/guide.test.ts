import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tools } from '../../src/mcp/server.ts'
import { blocksOf } from '../documented/blocks.ts'
import { commandLines } from '../documented/command-lines.ts'
import { root } from '../support/packed.ts'
import { toolNames } from './clients.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const guide = read('src/guides/agents.md')

test('the guide lists exactly the existing tools, with their effects and scopes', () => {
  const [, table = ''] = guide.split('\n## Tools\n')
  const rows = [...table.matchAll(/^\| `(\w+)`.*$/gm)].map(([row]) => {
    const [, name = '', , changes, scopes] = row.split('|').map((cell) => cell.trim().replaceAll('`', ''))
    return { name, changes, scopes }
  })
  const expected = tools.map(({ name, effects, scopes }) => ({
    name,
    changes: effects.readOnlyHint ? 'No' : name === 'receiver_check' ? 'Receiver' : 'Yes',
    scopes: scopes.join(', ') || 'none',
  }))
  expect(rows).toEqual(expected)
  expect(rows.map(({ name }) => name)).toEqual(toolNames)
  expect(guide).toContain(`${tools.length} tools`)
})

test('descriptions of tools that change something say so', () => {
  for (const { name, description, effects } of tools)
    expect([name, /^(Push|Cause|Act|Send|Test|Show .* (?:change it|replace all))/.test(description)]).toEqual(
      [name, !effects.readOnlyHint],
    )
})

test('tools that cause deliveries or tests of receivers have openWorldHint', () => {
  const open = tools.filter(({ effects }) => effects.openWorldHint).map(({ name }) => name)
  // Clearing faults sends held deliveries.
  const causes = ['push', 'trigger', 'guests', 'deliveries_resend', 'receiver_check', 'clock', 'faults']
  expect(open).toEqual(causes)
})

test('the settings for agents in the guide are JSON that starts the server', () => {
  const blocks = blocksOf('src/guides/agents.md').filter(({ language }) => language === 'json')
  expect(blocks).toHaveLength(2)
  for (const { text } of blocks) {
    const [servers] = Object.values(JSON.parse(text) as Record<string, Record<string, object>>)
    expect(servers?.tabwire).toMatchObject({ command: 'npx', args: ['tabwire', 'mcp'] })
  }
})

test('the skill has a name and a description, and twenty commands', () => {
  const skill = read('fixtures/skills/tabwire/SKILL.md')
  const [, name, description = ''] = /^---\nname: ([a-z-]+)\ndescription: (.+)\n---\n/.exec(skill) ?? []
  expect(name).toBe('tabwire')
  // Limits of the Agent Skills format.
  expect(description.length).toBeLessThanOrEqual(1024)
  expect(description).not.toMatch(/[<>]|: /)
  const { commands } = JSON.parse(read('oclif.manifest.json')) as { commands: Record<string, unknown> }
  const used = blocksOf('fixtures/skills/tabwire/SKILL.md')
    .flatMap(commandLines)
    .map((line) => {
      const [, first = '', second = ''] = line.trim().split(/\s+/)
      return [`${first}:${second}`, first].find((id) => Object.hasOwn(commands, id))
    })
  expect(used).not.toContain(undefined)
  expect(new Set(used).size).toBe(20)
})

test('llms.txt lists each guide', () => {
  const llms = read('fixtures/llms.txt')
  const linked = [...llms.matchAll(/\/docs\/guides\/([\w-]+)\.md/g)].map(([, one]) => one)
  const guides = readdirSync(join(root, 'src/guides')).map((file) => file.replace('.md', ''))
  expect(new Set(linked)).toEqual(new Set(guides))
  expect(linked).toHaveLength(guides.length)
})
