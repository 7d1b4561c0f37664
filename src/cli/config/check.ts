import type { z } from 'zod'
import { Refusal } from '../../model/refusal.ts'
import { validate, type ValidationIssue } from '../../model/validation.ts'
import { wrongConfig, type ConfigFile } from './file.ts'

/**
 * Checks settings against their schema; `under` is where they are in the file.
 * @throws CommandError (usage) that names the file, and each key that is wrong with what is allowed.
 */
export function checkConfig<T>({ path }: ConfigFile, schema: z.ZodType<T>, content: unknown, under = ''): T {
  try {
    return validate(schema, content)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const issues = (error.details.issues ?? []) as ValidationIssue[]
    throw wrongConfig(`${path}: ${issues.map((issue) => told(issue, under)).join(`\n${path}: `)}`)
  }
}

function told({ path, message }: ValidationIssue, under: string): string {
  const key = [under, path === 'body' ? '' : path].filter((part) => part !== '').join('.')
  return `${key === '' ? 'the file' : key} ${message.replace(/\.?$/, '.')}`
}
