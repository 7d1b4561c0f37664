import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readJsonFile } from '../../data-directory.ts'
import { newToken } from '../../ids.ts'
import { writePrivateFile } from '../../private-file.ts'
import { ignoreInGit, makeDirectories } from '../../replace-file.ts'
import { isProven, proofOf } from './installation.ts'
import { CommandError } from '../errors.ts'
import { suggestion } from '../suggestion.ts'

/** File of a data directory that identifies the installation that made it. */
const MARK = 'installation.json'

interface Mark {
  id: unknown
  proof: unknown
}

/** Files that must come from this installation, and how messages name them. */
const secrets = [
  ['credentials.json', 'the API key in credentials.json'],
  [join('listen', 'secret'), 'the signing secret in listen/secret'],
  ['ca', 'the certificate authority in ca'],
  ['db.json', 'the data in db.json'],
  ['journal.ndjson', 'the data in journal.ndjson'],
] as const

/**
 * Creates a data directory, and marks a new or empty one as made by this installation. So a later start recognizes a
 * directory that came with a clone or an archive.
 * @throws CommandError for a file.
 */
export async function prepareDataDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined)
  if (found?.isDirectory() === false)
    throw new CommandError(
      'directory_unusable',
      `Cannot use ${directory}: it is a file, not a directory. Remove it, or choose another directory with --data-dir.`,
    )
  if ((await isMadeHere(directory)) !== false || (await secretsIn(directory)).length > 0) return
  await markAsOwn(directory)
}

/**
 * Marks a data directory as made by this installation. Ignores a failure; later starts then repeat the warning.
 */
export async function markAsOwn(directory: string): Promise<void> {
  const id = newToken()
  const proof = await proofOf(id)
  if (proof === undefined) return
  try {
    await makeDirectories(directory, 0o700)
    await ignoreInGit(directory).catch(() => undefined)
    await writePrivateFile(join(directory, MARK), `${JSON.stringify({ id, proof })}\n`)
  } catch {
    // The code that uses the directory reports why it cannot.
  }
}

/** Returns the secrets and data in a directory that this installation did not make. */
export async function secretsNotMadeHere(directory: string): Promise<string[]> {
  return (await isMadeHere(directory)) === false ? secretsIn(directory) : []
}

async function isMadeHere(directory: string): Promise<boolean | undefined> {
  const mark = await readJsonFile<Mark>(join(directory, MARK))
  const { id, proof } = mark ?? {}
  return isProven(typeof id === 'string' ? id : '', typeof proof === 'string' ? proof : '')
}

async function secretsIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => [])
  const listen = await readdir(join(directory, 'listen')).catch(() => [])
  const there = [...names, ...listen.map((name) => join('listen', name))]
  return secrets.filter(([name]) => there.includes(name)).map(([, words]) => words)
}

/** Returns a warning about the contents of a data directory that this installation did not make. */
export async function foreignSecrets(directory: string): Promise<string[]> {
  const found = await secretsNotMadeHere(directory)
  if (found.length === 0) return []
  const command = suggestion('config trust', [], { 'data-dir': directory })
  if (!(await hasMark(directory)))
    return [
      `Another installation or an earlier version created ${directory}: ${listOf(found)}. If the directory is yours, run \`${command}\`. If not, its author may know the secrets; remove ${directory} with all its data to create new ones.`,
    ]
  return [
    `This installation did not create ${directory}: ${listOf(found)} came from elsewhere, and its author may know the secrets. Remove ${directory} to create new ones. If the directory is yours, run: ${command}`,
  ]
}

/** Earlier versions made directories without a mark. */
function hasMark(directory: string): Promise<boolean> {
  return stat(join(directory, MARK)).then(
    () => true,
    () => false,
  )
}

function listOf(words: readonly string[]): string {
  return new Intl.ListFormat('en').format(words)
}
