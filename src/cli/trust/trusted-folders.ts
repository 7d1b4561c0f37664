import { createHash } from 'node:crypto'
import { mkdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readJsonFile } from '../../data-directory.ts'
import { writePrivateFile } from '../../private-file.ts'
import { stateHome } from './installation.ts'

/** A settings file as it was read. */
interface SettingsFile {
  path: string
  text: string
}

interface Trusted {
  folder: string
  /** SHA-256 of the settings file's text, in hex: trust ends when the file changes. */
  settings: string
}

/** Whether this user has trusted the folder of a settings file, with this very text. */
export async function isTrusted(file: SettingsFile): Promise<boolean> {
  const wanted = await trustIn(file)
  const kept = await readJsonFile<Trusted>(placeOf(wanted))
  return kept?.folder === wanted.folder && kept.settings === wanted.settings
}

/** Remembers for this user that the folder of a settings file is trusted, as long as its text stays. */
export async function trust(file: SettingsFile): Promise<void> {
  const wanted = await trustIn(file)
  await mkdir(dirname(placeOf(wanted)), { recursive: true, mode: 0o700 })
  await writePrivateFile(placeOf(wanted), `${JSON.stringify(wanted)}\n`)
}

async function trustIn({ path, text }: SettingsFile): Promise<Trusted> {
  return { folder: await realpath(dirname(path)), settings: sha256(text) }
}

/** A file for each folder, so that two commands at once take nothing from each other. */
function placeOf({ folder }: Trusted): string {
  return join(stateHome(), 'trusted', `${sha256(folder)}.json`)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
