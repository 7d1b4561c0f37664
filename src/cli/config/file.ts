import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CommandError, exitCodes } from '../errors.ts'
import { withoutByteOrderMark } from '../files/input.ts'
import type { z } from 'zod'
import { Refusal } from '../../model/refusal.ts'
import { validate, type ValidationIssue } from '../../model/validation.ts'

/** Settings file that is read from the working directory when none is named (contract section 12). */
export const CONFIG_FILE = 'tabwire.config.json'

/** A settings file, not yet validated. */
export interface ConfigFile {
  path: string
  /** Named by flag or environment variable; otherwise found in the working directory. */
  named: boolean
  text: string
  content: Record<string, unknown>
}

const read = new Map<string, Promise<ConfigFile | undefined>>()

/**
 * Reads a settings file once per process; `undefined` when none is named and none exists.
 * @throws CommandError (usage) when it cannot be read or is not a JSON object.
 */
export function readConfigFile(named: string | undefined): Promise<ConfigFile | undefined> {
  const path = named ?? CONFIG_FILE
  const place = `${named === undefined ? 'found' : 'named'} ${resolve(path)}`
  const known = read.get(place) ?? load(path, named === undefined)
  read.set(place, known)
  return known
}

async function load(path: string, mayBeMissing: boolean): Promise<ConfigFile | undefined> {
  let text: string
  try {
    // Reading a pipe can last for ever. A named file may be one, such as a shell's `<(…)`.
    if (mayBeMissing && (await stat(path)).isFIFO())
      throw Object.assign(new Error(), { code: 'it is a pipe' })
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && mayBeMissing) return undefined
    const reason = code === 'ENOENT' ? 'no such file' : code
    const remedy = mayBeMissing ? 'Remove the file, or make it readable.' : 'Correct --config.'
    throw wrongConfig(`Cannot read the settings file ${path}: ${reason}. ${remedy}`)
  }
  return { path, named: !mayBeMissing, text, content: parse(path, text) }
}

/** Returns the names of the settings of `start` in a file. */
export function settingsIn({ content }: ConfigFile): string[] {
  return Object.keys(content).filter((key) => !['$schema', 'listen', 'profiles'].includes(key))
}

function parse(path: string, text: string): Record<string, unknown> {
  let content: unknown
  try {
    content = JSON.parse(withoutByteOrderMark(text))
  } catch (error) {
    const hint = /\\[^"\\/bfnrtu\0]/.test(text) ? ' Write a backslash in a path as \\\\.' : ''
    throw wrongConfig(`${path} is not valid JSON: ${(error as Error).message}.${hint}`)
  }
  if (typeof content === 'object' && content !== null && !Array.isArray(content))
    return content as Record<string, unknown>
  throw wrongConfig(`${path} must be a JSON object, such as {"port": 4200}.`)
}

/** Makes the error for a mistake in a settings file: wrong usage, like a mistake on the command line. */
export function wrongConfig(message: string): CommandError {
  return new CommandError('invalid_config', message, exitCodes.usage)
}

/**
 * Validates settings against a schema; `under` is their path in the file.
 * @throws CommandError (usage) that names the file and, for each wrong key, the allowed values.
 */
export function checkConfig<T>({ path }: ConfigFile, schema: z.ZodType<T>, content: unknown, under = ''): T {
  try {
    return validate(schema, content)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const issues = (error.details.issues ?? []) as ValidationIssue[]
    throw wrongConfig(`${path}: ${issues.map((issue) => describeIssue(issue, under)).join(`\n${path}: `)}`)
  }
}

function describeIssue({ path, message }: ValidationIssue, under: string): string {
  const key = [under, path === 'body' ? '' : path].filter((part) => part !== '').join('.')
  return `${key === '' ? 'the file' : key} ${message.replace(/\.?$/, '.')}`
}
