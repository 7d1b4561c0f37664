import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Refusal } from '../../model/refusal.ts'
import { shortened } from '../../model/text/advice.ts'
import { bundleText, LONGEST_BUNDLE } from '../../model/simulator/record-lines.ts'
import type { Bundle } from '../../model/simulator/bundle.ts'
import { CommandError, exitCodes } from '../errors.ts'
import { printable } from '../render/text.ts'
import { suggestion } from '../suggestion.ts'
import { readInput } from './input.ts'
import { makeDirectories } from '../../replace-file.ts'
import { checkOutput, requireKind, writeOutput, writing } from './output.ts'

const NAMED = { flag: '--bundle', content: 'bundle' }

const MEBIBYTE = 1024 * 1024
/** A bundle by its first bytes. */
const BUNDLE = /"tabwire-bundle"/

/**
 * Writes a bundle, readable by its owner alone. Returns the message about it.
 * @throws CommandError when it cannot be written, or is longer than a replay accepts.
 */
export async function writeBundle(file: string, bundle: Bundle): Promise<string> {
  const text = [...bundleText(bundle)].join('')
  const length = Buffer.byteLength(text)
  if (length > LONGEST_BUNDLE)
    throw new CommandError(
      'bundle_too_large',
      `The bundle has ${Math.ceil(length / MEBIBYTE)} MiB, but a replay reads at most ${LONGEST_BUNDLE / MEBIBYTE} MiB, so it was not written. Record a shorter run, or start the service with a lower --keep-events.`,
    )
  await writingBundle(file, () => writeOutput(file, text, 0o600))
  return `Bundle written. Replay it with \`${suggestion('replay', [file])}\`.`
}

/** Writes or checks a bundle file. Creates its directory first, as for `--junit`. */
function writingBundle(file: string, work: () => Promise<void>): Promise<void> {
  return writing(file, NAMED, async () => {
    await makeDirectories(dirname(file))
    await requireKind(file, BUNDLE, 'a bundle')
    await work()
  })
}

/**
 * Checks that a bundle can be written, before the run that it records.
 * @throws CommandError when it cannot.
 */
export async function requireWritableBundle(file: string): Promise<void> {
  await writingBundle(file, () => checkOutput(file))
}

/**
 * Reads and checks a bundle, or standard input for `-`.
 * @throws CommandError (usage) when it cannot be read, or is not a bundle that this version replays.
 */
export async function readBundle(file: string): Promise<Bundle> {
  const length = file === '-' ? 0 : ((await stat(file).catch(() => undefined))?.size ?? 0)
  if (length > LONGEST_BUNDLE) throw tooLong(file, length)
  const bytes = await readInput(file)
  if (bytes.byteLength > LONGEST_BUNDLE) throw tooLong(file, bytes.byteLength)
  const value = parsed(file, bytes)
  requireVersion(file, value)
  // Loaded late: the command's help needs no schemas.
  const { bundleOf } = await import('../../model/simulator/bundle.ts')
  try {
    return bundleOf(value)
  } catch (error) {
    if (error instanceof Refusal) throw brokenBundle(file, issuesIn(error))
    throw error
  }
}

/** Returns the error for a file with the format of a bundle and invalid content. */
export function brokenBundle(file: string, issues: string): CommandError {
  return invalidBundle(`${nameOf(file)} is not a valid bundle: ${issues}. Write a new one with --bundle.`)
}

function parsed(file: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw invalidBundle(
      `${nameOf(file)} is not complete JSON. It is another file, or it was cut off. Copy the bundle again.`,
    )
  }
}

/** @throws CommandError unless the value has the format and a version that this program reads. */
function requireVersion(file: string, value: unknown): void {
  const isObject = typeof value === 'object' && value !== null
  const { format, version, tabwire } = (isObject ? value : {}) as Record<string, unknown>
  if (format !== 'tabwire-bundle')
    throw invalidBundle(
      `${nameOf(file)} is not a bundle: its format must be "tabwire-bundle". Write one with \`tabwire report --bundle FILE\`.`,
    )
  if (typeof version !== 'number' || version <= 1) return
  const by = typeof tabwire === 'string' ? ` It was written by Tabwire ${excerpt(tabwire)}.` : ''
  throw invalidBundle(
    `${nameOf(file)} has version ${version} of the format, but this Tabwire reads version 1.${by} Upgrade Tabwire.`,
  )
}

/** Most issues that an error shows. */
const MOST_ISSUES = 3

function issuesIn({ details }: Refusal): string {
  const issues = details.issues as readonly { path: string; message: string }[]
  const shown = issues
    .slice(0, MOST_ISSUES)
    .map(({ path, message }) => `${excerpt(path)} ${excerpt(message)}`)
  const more = issues.length - shown.length
  return `${shown.join('; ')}${more > 0 ? ` (and ${more} more)` : ''}`
}

/** Returns a text of the file in a form and length for an error. */
function excerpt(text: string): string {
  return shortened(printable(text), 200)
}

function tooLong(file: string, length: number): CommandError {
  return invalidBundle(
    `${nameOf(file)} has ${Math.ceil(length / MEBIBYTE)} MiB, but a bundle has at most ${LONGEST_BUNDLE / MEBIBYTE} MiB.`,
  )
}

function nameOf(file: string): string {
  return file === '-' ? 'Standard input' : file
}

function invalidBundle(message: string): CommandError {
  return new CommandError('invalid_bundle', message, exitCodes.usage)
}
