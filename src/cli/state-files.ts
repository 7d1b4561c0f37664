import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Args, Errors, Flags } from '@oclif/core'
import { statesDirectory, writeState, writeWhole } from '../data-directory.ts'
import { countsOf, type State, type StateReport } from '../model/state.ts'
import { CommandError, exitCodes } from './failure.ts'
import { fromEnvironment } from './flags.ts'
import { readInput } from './input.ts'

/** A saved state: `name` in the data directory, or a `file` anywhere. */
export type StatePlace = { directory: string; name: string } | { file: string }

/** A saved state as `state list` tells of it; `clock` and what follows are missing when the file holds no state. */
export interface SavedState extends Partial<Omit<StateReport, 'clock'>> {
  name: string
  file: string
  saved_at: string
  clock?: State['clock']
}

/** Names that Windows takes for devices, whatever follows them. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

export const stateArgs = {
  name: Args.string({
    ignoreStdin: true,
    description: 'The name of the state, kept in the data directory.',
    // It becomes a file's name, on any system, and never a path.
    parse: async (input) => {
      if (/^[a-z0-9][\w.-]{0,63}$/i.test(input) && !input.endsWith('.') && !DEVICE.test(input)) return input
      throw new Errors.CLIError(
        `NAME cannot be ${JSON.stringify(input)}. Use up to 64 letters, digits, hyphens, dots and underscores, or --file for a path.`,
      )
    },
  }),
}

export const stateFileFlags = fromEnvironment({
  file: Flags.string({
    description: 'A file instead of a name, such as a fixture; - is standard output or input.',
  }),
})

/** @throws CommandError unless there is exactly one of name and file. */
export function placeOf(
  name: string | undefined,
  flags: { file?: string | undefined; 'data-dir': string },
): StatePlace {
  if (name !== undefined && flags.file === undefined) return { directory: flags['data-dir'], name }
  if (name === undefined && flags.file !== undefined) return { file: flags.file }
  throw new CommandError('usage', 'Pass the name of a state, or --file FILE.', exitCodes.usage)
}

/** How people are told of the file of a state. */
export function pathOf(place: StatePlace): string {
  return 'file' in place ? place.file : join(statesDirectory(place.directory), `${place.name}.json`)
}

/** Writes a state, whole or not at all, and tells whether there was one before. @throws CommandError */
export async function writeStateTo(place: StatePlace, state: State): Promise<{ replaced: boolean }> {
  const path = pathOf(place)
  const replaced = (await stat(path).catch(() => undefined))?.isFile() ?? false
  try {
    await ('file' in place ? writeWhole(path, state) : writeState(place.directory, place.name, state))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError(
      'unwritable_file',
      `${path} cannot be written (${code}). Choose another file with --file.`,
    )
  }
  return { replaced }
}

/** The bytes of a saved state. @throws CommandError that names those there are when there is none of this name. */
export async function readStateFrom(place: StatePlace): Promise<Buffer> {
  if ('file' in place) return readInput(place.file)
  const path = pathOf(place)
  if ((await stat(path).catch(() => undefined)) !== undefined) return readInput(path)
  const names = (await savedStates(place.directory)).map(({ name }) => name)
  const those = names.length === 0 ? 'None is saved yet' : `There are: ${names.join(', ')}`
  throw new CommandError('no_such_state', `There is no state ${place.name} (${path}). ${those}.`)
}

/** All states in a data directory, by name. */
export async function savedStates(directory: string): Promise<SavedState[]> {
  const folder = statesDirectory(directory)
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json')).sort()
  return Promise.all(names.map((name) => savedState(join(folder, name), name.slice(0, -'.json'.length))))
}

async function savedState(file: string, name: string): Promise<SavedState> {
  const { mtime } = await stat(file)
  const saved = { name, file, saved_at: mtime.toISOString() }
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as State
    return { ...saved, clock: state.clock, ...countsOf(state) }
  } catch {
    return saved
  }
}
