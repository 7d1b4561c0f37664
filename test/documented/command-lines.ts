import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/packed.ts'
import type { Block } from './blocks.ts'

interface Flag {
  name: string
  char?: string
  aliases?: string[]
  allowNo?: boolean
}
interface Command {
  aliases?: string[]
  flags: Record<string, Flag>
}

const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, Command>
}
/** Flags of the manifest, and those that oclif itself has. */
const everywhere = ['--help', '--version', '--json']

/** Returns the lines of a block that call `tabwire`, with continued lines joined. */
export function commandLines({ text, language }: Block): string[] {
  const continued = language === 'powershell' ? /`\n\s*/g : /\\\n\s*/g
  return text
    .replace(continued, '')
    .split('\n')
    .map((line) => line.replace(/^docker exec tabwire /, '').replace(/^(?:\s*#|docker ).*/, ''))
    .flatMap((line) => line.match(/(?<=^\s*|[|(&] |\(|npx )tabwire [^|;<>&)]*/g) ?? [])
}

/** Returns the code in a text that starts with `tabwire`. "`tabwire clock show`, `advance`" gives a line for each of both. */
export function inlineCommands(markdown: string): string[] {
  const prose = markdown.replace(/^([ ]*)```[^]*?^\1```$/gm, '').replace(/\s+/g, ' ')
  return Array.from(prose.matchAll(/`(tabwire [^`]*)`((?:, `[a-z]+`)*)/g), ([, code = '', others = '']) => [
    code,
    ...Array.from(others.matchAll(/[a-z]+/g), ([word]) => code.replace(/\S+$/, word)),
  ]).flat()
}

/** Returns the mistake of a command line: an unknown command or flag. */
export function mistakeIn(line: string): string | undefined {
  const words = line.trim().split(/\s+/).slice(1)
  if (words[0] === undefined || /^[A-Z]+$/.test(words[0]) || words[0].startsWith('--')) return undefined
  const end = words.findIndex((word) => word === '--' || word === "'--'")
  const own = end < 0 ? words : words.slice(0, end)
  const names = own.filter((word) => /^[a-z]+$/.test(word))
  const id = [names.slice(0, 2).join(':'), names[0] ?? ''].find((name) => Object.hasOwn(commands, name))
  if (id === undefined) return `unknown command: ${line}`
  const flags = Object.values(commands[id]?.flags ?? {})
  const known = flags.flatMap(({ name, char, aliases = [], allowNo = false }) => [
    `--${name}`,
    ...aliases.map((alias) => `--${alias}`),
    ...(char === undefined ? [] : [`-${char}`]),
    ...(allowNo ? [`--no-${name}`] : []),
  ])
  // Below exec, the flags of the command that it runs are not ours.
  const unknown = own.find(
    (word) => /^--?[a-z]/i.test(word) && ![...known, ...everywhere].includes(word.replace(/=.*$/, '')),
  )
  return unknown === undefined ? undefined : `unknown flag ${unknown}: ${line}`
}
