import { createHmac, timingSafeEqual, createHash } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, dirname } from 'node:path'
import { newToken } from '../../ids.ts'
import { createPrivateFile, writePrivateFile } from '../../private-file.ts'
import { makeDirectories, readWhenFree } from '../../replace-file.ts'
import { readJsonFile } from '../../data-directory.ts'

/**
 * Returns the folder of this user's own state: `$XDG_STATE_HOME/tabwire`, on Windows `%LOCALAPPDATA%\tabwire`, else
 * `~/.local/state/tabwire`. Never in a working directory, which other users may have written.
 */
export function stateHome(): string {
  const { XDG_STATE_HOME: state, LOCALAPPDATA: local } = process.env
  if (state !== undefined && isAbsolute(state)) return join(state, 'tabwire')
  if (process.platform === 'win32' && local !== undefined && isAbsolute(local)) return join(local, 'tabwire')
  return join(homedir(), '.local', 'state', 'tabwire')
}

/**
 * Returns a code that proves that this installation wrote a text, made with a secret of this user. `undefined` when
 * the secret can be neither read nor created, for example in a read-only home.
 */
export async function proofOf(text: string): Promise<string | undefined> {
  const secret = await installationSecret()
  return secret && createHmac('sha256', secret).update(text).digest('base64url')
}

/** Returns true when this installation made the proof; `undefined` when that is unknown. */
export async function isProven(text: string, proof: string): Promise<boolean | undefined> {
  const own = await proofOf(text)
  if (own === undefined) return undefined
  const [one, other] = [Buffer.from(own), Buffer.from(proof)]
  return one.length === other.length && timingSafeEqual(one, other)
}

async function installationSecret(): Promise<string | undefined> {
  const path = join(stateHome(), 'installation')
  const kept = await readSecret(path)
  if (kept !== undefined) return kept
  try {
    await makeDirectories(stateHome(), 0o700)
    // Of two concurrent processes, the second takes the secret of the first.
    await createPrivateFile(
      path,
      (draft) => writePrivateFile(draft, `${newToken()}${newToken()}\n`),
      async () => (await readSecret(path)) !== undefined,
    )
  } catch {
    return undefined
  }
  return readSecret(path)
}

async function readSecret(path: string): Promise<string | undefined> {
  const text = await readWhenFree(() => readFile(path, 'utf8')).catch(() => '')
  return /^([\w-]{44})\n$/.exec(text)?.[1]
}

interface SettingsFile {
  path: string
  text: string
}

interface Trusted {
  folder: string
  /** SHA-256 of the settings file's text, in hex: trust ends when the file changes. */
  settings: string
}

/** Returns true when this user has trusted the folder of a settings file, with exactly this text. */
export async function isTrusted(file: SettingsFile): Promise<boolean> {
  const wanted = await trustIn(file)
  const kept = await readJsonFile<Trusted>(placeOf(wanted))
  return kept?.folder === wanted.folder && kept.settings === wanted.settings
}

/** Stores that this user trusts the folder of a settings file, until its text changes. */
export async function trust(file: SettingsFile): Promise<void> {
  const wanted = await trustIn(file)
  await makeDirectories(dirname(placeOf(wanted)), 0o700)
  await writePrivateFile(placeOf(wanted), `${JSON.stringify(wanted)}\n`)
}

async function trustIn({ path, text }: SettingsFile): Promise<Trusted> {
  return { folder: await realpath(dirname(path)), settings: sha256(text) }
}

/** One file per folder, so that concurrent commands do not overwrite each other. */
function placeOf({ folder }: Trusted): string {
  return join(stateHome(), 'trusted', `${sha256(folder)}.json`)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
