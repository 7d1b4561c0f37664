import { stripVTControlCharacters } from 'node:util'
import { Errors } from '@oclif/core'
import { ApiError, Unreachable } from '../api-error.ts'

/** What a command's end tells its caller (contract section 12). */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  checkFailed: 3,
  keyRefused: 4,
  interrupted: 130,
} as const

/** Something that a command found wrong and can tell in words: what, why, what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: string
  readonly exitCode: number

  constructor(code: string, message: string, exitCode: number = exitCodes.failed) {
    super(message)
    this.code = code
    this.exitCode = exitCode
  }
}

/** An error as a command tells it: for people, and for programs as `json`. */
export interface Failure {
  message: string
  issues: readonly { path: string; message: string }[]
  requestId: string | null
  exitCode: number
  json: object
}

/** What to say of an error, and how to end. */
export function describeFailure(error: Error): Failure {
  const { message } = error
  const plain = { message, issues: [], requestId: null }
  if (error instanceof ApiError) return describeApiError(error)
  if (error instanceof CommandError)
    return { ...plain, exitCode: error.exitCode, json: { code: error.code, message } }
  if (error instanceof Unreachable) {
    const hint = `${message} Start one with: tabwire start`
    return {
      ...plain,
      message: hint,
      exitCode: exitCodes.failed,
      json: { code: 'unreachable', message: hint },
    }
  }
  if (error instanceof Errors.CLIError) {
    const usage = usageText(message)
    const text = `${usage}\nSee more help with --help`
    return { ...plain, message: text, exitCode: exitCodes.usage, json: { code: 'usage', message: usage } }
  }
  return { ...plain, exitCode: exitCodes.failed, json: { code: 'failed', message } }
}

/** What oclif says of wrong usage, in one breath. */
function usageText(message: string): string {
  return stripVTControlCharacters(message)
    .replace(/\nSee more help with --help$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/^Parsing (--\S+)\s+/, '$1: ')
    .replace(/^Missing required flag (?=\w)/gm, 'Missing required flag --')
    .replace(/^Missing 1 required arg:\n/, 'Missing argument: ')
}

function describeApiError({ status, body, message, requestId, code }: ApiError): Failure {
  const issues = (Array.isArray(body.issues) ? body.issues : []) as Failure['issues']
  const refused = status === 401 || status === 403
  const exitCode = refused ? exitCodes.keyRefused : exitCodes.failed
  return { message: told(), issues, requestId, exitCode, json: { ...body, code, message } }

  function told(): string {
    // The issues follow, each on its line.
    if (issues.length > 0) return 'The body is not valid:'
    return status === 401 ? `${message} ${KEY_HINT}` : message
  }
}

const KEY_HINT = 'Commands take the key from --api-key, TABWIRE_API_KEY or the data directory (--data-dir).'
