import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Manifest {
  commands: Record<string, Command>
}
interface Command {
  id: string
  description?: string
  examples?: string[]
  args: Record<string, { description?: string }>
  flags: Record<string, { type: string; env?: string; description?: string }>
}

// `npm run build` writes it from the compiled commands: what oclif knows of them is what help shows.
const manifest = JSON.parse(
  readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8'),
) as Manifest
const commands = Object.values(manifest.commands).map((command) => ({
  ...command,
  name: command.id.replaceAll(':', ' '),
}))

test('the manifest has the expected commands', () => {
  expect(commands.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'start',
      'demo',
      'push',
      'checks list',
      'endpoints create',
      'ping',
      'tail',
      'verify',
      'sign',
    ]),
  )
})

test('no switch shares its variable with a flag that has a value', () => {
  const flags = commands.flatMap((command) => Object.values(command.flags))
  const switches = new Set(flags.filter(({ type }) => type === 'boolean').map(({ env }) => env))
  expect(flags.filter(({ type, env }) => type !== 'boolean' && switches.has(env))).toEqual([])
})

describe.each(commands)('tabwire $name', ({ name, description = '', examples = [], args, flags }) => {
  test('has a summary that fits a line of the list of commands', () => {
    const [summary, ...rest] = description.split('\n')
    expect(summary).toMatch(/^[A-Z].{10,58}\.$/)
    for (const line of rest) expect(line).toMatch(/^[A-Z].*\.$/)
  })

  test('has an example of its own', () => {
    expect(examples).not.toEqual([])
    for (const example of examples) expect(example).toContain(`<%= config.bin %> ${name}`)
  })

  test('takes every flag from TABWIRE_<FLAG> too, and describes it', () => {
    expect(flags).toHaveProperty('json')
    // With one variable for all, start would send deliveries to receivers whose certificates are not checked.
    const own: Record<string, string> = {
      'listen insecure': 'listen-insecure',
      'receiver check insecure': 'receiver-insecure',
      'scenario explore insecure': 'receiver-insecure',
      'endpoints create secret-file': 'new-secret-file',
      'events show body': 'show-body',
      'contract check strict': 'check-strict',
      'receiver check strict': 'check-strict',
      'exec port': 'exec-port',
      'push seed': 'permute-seed',
      'replay port': 'replay-port',
    }
    for (const [flag, { env, description: text = '' }] of Object.entries(flags)) {
      const words = own[`${name} ${flag}`] ?? flag
      expect(env).toBe(`TABWIRE_${words.replaceAll('-', '_').toUpperCase()}`)
      expect(text).toMatch(/^[A-Z].*\.$|^[A-Z].*whsec_…$/)
    }
  })

  test('describes its arguments', () => {
    for (const { description: text } of Object.values(args)) expect(text).toMatch(/^[A-Z].*\.$/)
  })
})
