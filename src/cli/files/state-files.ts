import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Args, Errors, Flags } from '@oclif/core'
import { prepareStatesDirectory, statesDirectory } from '../../data-directory.ts'
import { countsOf, type State, type StateReport } from '../../model/simulator/state.ts'
import { LONGEST_DOCUMENT, createStateScanner, stateText } from '../../model/simulator/record-lines.ts'
import { writePrivateFile } from '../../private-file.ts'
import { CommandError, exitCodes, usageError } from '../errors.ts'
import { didYouMeanSentence } from '../../model/text/advice.ts'
import { fromEnvironment } from '../flags.ts'
import { readInParts, readUnmarked } from './input.ts'

/** Location of a saved state: `name` in the data directory, or any `file`. */
type StatePlace = { directory: string; name: string } | { file: string }

/** A saved state in `state list`; `clock` and the counts are missing when the file holds no state. */
export interface SavedState extends Partial<Omit<StateReport, 'clock'>> {
  name: string
  file: string
  saved_at: string
  clock?: State['clock']
}

/** Device names of Windows, whatever follows them. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

export const stateArgs = {
  name: Args.string({
    ignoreStdin: true,
    description: 'Name of the state in the data directory.',
    // The name becomes a file's name on any system, never a path.
    parse: async (input) => {
      if (DEVICE.test(input))
        throw new Errors.CLIError(
          `NAME must not be the name of a device on Windows, got ${JSON.stringify(input)}. Choose another name, or use --file for a path.`,
        )
      if (/^[a-z0-9][\w.-]{0,63}$/i.test(input) && !input.endsWith('.')) return input
      throw new Errors.CLIError(
        `NAME must be up to 64 letters, digits, hyphens, dots and underscores, got ${JSON.stringify(input)}. For a path, use --file.`,
      )
    },
  }),
}

export const stateFileFlags = fromEnvironment({
  file: Flags.string({
    description: 'File to use instead of a name; - is standard output to save, standard input to load.',
  }),
})

/** @throws CommandError (usage) unless exactly one of name and file is given. */
export function placeOf(
  name: string | undefined,
  flags: { file?: string | undefined; 'data-dir': string },
): StatePlace {
  if (name !== undefined && flags.file === undefined) return { directory: flags['data-dir'], name }
  if (name === undefined && flags.file !== undefined) return { file: flags.file }
  throw usageError('Pass the name of a state, or --file FILE.')
}

/** Returns the path of a state's file. */
export function stateFile(place: StatePlace): string {
  return 'file' in place ? place.file : join(statesDirectory(place.directory), `${place.name}.json`)
}

/** The clock of a state, and its numbers of records. */
export interface StateContents extends Omit<StateReport, 'clock'> {
  clock: State['clock']
}

/**
 * Writes the JSON of a state atomically. Returns what it holds, and whether a file was replaced.
 * @throws CommandError when the file cannot be written, or the state is incomplete.
 */
export async function writeStateTo(
  place: StatePlace,
  json: AsyncIterable<Uint8Array>,
): Promise<StateContents & { replaced: boolean }> {
  const path = stateFile(place)
  const replaced = (await stat(path).catch(() => undefined))?.isFile() ?? false
  const contents = createContents()
  try {
    if ('directory' in place) await prepareStatesDirectory(place.directory)
    // Checked before the previous file is replaced.
    await writePrivateFile(path, wholeState(json, contents))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (typeof code !== 'string' || !/^[A-Z]/.test(code)) throw error
    throw new CommandError(
      'unwritable_file',
      `Cannot write ${path} (${code}). Choose another file with --file.`,
    )
  }
  return { ...requireContents(contents), replaced }
}

/**
 * Passes the JSON of a state on.
 * @throws CommandError at its end, when it was not a whole state.
 */
export async function* wholeState(
  json: AsyncIterable<Uint8Array>,
  contents = createContents(),
): AsyncGenerator<Uint8Array> {
  for await (const chunk of json) {
    contents.take(chunk)
    yield chunk
  }
  requireContents(contents)
}

/** @throws CommandError when the service did not send a whole state. */
function requireContents(contents: Contents): StateContents {
  const found = contents.found()
  if (found !== undefined) return found
  throw new CommandError(
    'incomplete_state',
    'The service sent an incomplete state, which is not saved. Run the command again. If it fails again, restart the service with this version of Tabwire.',
  )
}

interface Contents {
  take(bytes: Uint8Array): void
  /** `undefined` when the bytes were not a whole state with one record per line. */
  found(): StateContents | undefined
}

/** Counts the records of a state as it streams, without keeping it in memory. */
function createContents(): Contents {
  const counts = new Map<string, number>()
  let [list, clock, pending] = ['', '', 0]
  const scanner = createStateScanner({
    field(name, json) {
      if (name === 'clock') clock = json
    },
    list: (name) => void counts.set((list = name), 0),
    record(json) {
      counts.set(list, (counts.get(list) ?? 0) + 1)
      if (list === 'deliveries' && json.includes('"status":"pending"')) pending += 1
    },
  })
  let isWhole: boolean | undefined
  return {
    take: (bytes) => void scanner.take(bytes),
    found() {
      isWhole ??= scanner.end() && clock !== ''
      if (!isWhole) return undefined
      return {
        clock: JSON.parse(clock) as State['clock'],
        records: Object.fromEntries(counts) as StateReport['records'],
        pending,
      }
    },
  }
}

/**
 * Reads the JSON of a saved state in the layout that services read.
 * @throws CommandError that lists the states when there is none of this name.
 */
export async function readStateFrom(place: StatePlace): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const path = stateFile(place)
  const size = path === '-' ? 0 : (await stat(path).catch(() => undefined))?.size
  if (size === undefined && 'name' in place) throw await noSuchState(place)
  if (size === undefined || size <= LONGEST_DOCUMENT) return readUnmarked(path)
  if (await isLaidOutByLine(path)) return readInParts(path)
  const state = JSON.parse(await readFile(path, 'utf8')) as object
  return encoded(stateText(state))
}

async function isLaidOutByLine(path: string): Promise<boolean> {
  const scanner = createStateScanner({ field() {}, list() {}, record() {} })
  for await (const chunk of readInParts(path, 1024 * 1024)) if (!scanner.take(chunk)) return false
  return true
}

async function* encoded(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece)
}

async function noSuchState({ directory, name }: { directory: string; name: string }): Promise<CommandError> {
  const names = (await savedStates(directory)).map((saved) => saved.name)
  const those = names.length === 0 ? 'No states are saved yet' : `Saved states: ${names.join(', ')}`
  const path = stateFile({ directory, name })
  const message = `No saved state ${JSON.stringify(name)} (${path}).${didYouMeanSentence(name, names)} ${those}.`
  return new CommandError('no_such_state', message, exitCodes.usage)
}

/** Lists the states of a data directory by name. */
export async function savedStates(directory: string): Promise<SavedState[]> {
  const folder = statesDirectory(directory)
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json')).sort()
  const states = names.map((name) => savedState(join(folder, name), name.slice(0, -'.json'.length)))
  return (await Promise.all(states)).flat()
}

/** Returns a state; nothing when it was removed meanwhile. */
async function savedState(file: string, name: string): Promise<SavedState[]> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return []
  const saved = { name, file, saved_at: found.mtime.toISOString() }
  try {
    return [{ ...saved, ...((await contentsByLine(file)) ?? (await contentsOfWhole(file))) }]
  } catch {
    return [saved]
  }
}

async function contentsByLine(file: string): Promise<StateContents | undefined> {
  const contents = createContents()
  for await (const chunk of readInParts(file)) contents.take(chunk)
  return contents.found()
}

/** Reads a state that was edited, or saved by an earlier version. */
async function contentsOfWhole(file: string): Promise<StateContents> {
  const state = JSON.parse(await readFile(file, 'utf8')) as State
  return { clock: state.clock, ...countsOf(state) }
}
