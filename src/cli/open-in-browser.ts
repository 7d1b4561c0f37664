import { spawn } from 'node:child_process'
import { mkdir, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { join, resolve } from 'node:path'
import { isInspectorLink } from '../model/simulator/inspector-link.ts'
import { writePrivateFile } from '../private-file.ts'
import { stateHome } from './trust/installation.ts'

/** What opens a page on each system; elsewhere it is the command of the freedesktop systems. */
const openers: Partial<Record<NodeJS.Platform, readonly [file: string, ...args: string[]]>> = {
  darwin: ['open'],
  // Not `start`, which is a word of a shell, to which `&` in an address is an end.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
const FREEDESKTOP = ['xdg-open'] as const

/** How long it is waited for a refusal, in milliseconds: some openers stay as long as the browser does. */
const PATIENCE_MS = 2_000

/**
 * Opens a link to the inspector in the browser; tells whether that went well, as far as that is known. The system's opener
 * starts programs for files and for schemes, so it is given nothing but a page of ours that leads to such a link; any
 * other text is not opened. The link itself would stand in the list of processes, which all users of a machine read.
 * @param directory The data directory, where the page is written; without one it goes to the user's own state directory.
 */
export async function openInBrowser(link: string, directory: string): Promise<boolean> {
  if (!isInspectorLink(link)) return false
  const page = await writeOpeningPage(link, directory).catch(() => undefined)
  return page !== undefined && run(page)
}

/**
 * Writes a page that leads on, which only this user can read, and resolves with its path. There is one at a time; it stays,
 * since nothing tells when the browser has read it, and its link is good once and for ten minutes.
 */
export async function writeOpeningPage(link: string, directory: string): Promise<string> {
  const found = await stat(directory).catch(() => undefined)
  const folder = found?.isDirectory() === true ? resolve(directory) : stateHome()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const page = join(folder, 'open.html')
  await writePrivateFile(
    page,
    `<!doctype html><meta charset="utf-8"><title>Tabwire</title><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${link}"><a href="${link}">Open the inspector</a>\n`,
  )
  return page
}

async function run(page: string): Promise<boolean> {
  const [file, ...args] = openers[platform()] ?? FREEDESKTOP
  const child = spawn(file, [...args, page], { stdio: 'ignore', detached: true })
  child.unref()
  return new Promise((settled) => {
    const patience = setTimeout(() => settled(true), PATIENCE_MS)
    const settle = (opened: boolean) => {
      clearTimeout(patience)
      settled(opened)
    }
    child.once('error', () => settle(false))
    child.once('exit', (code) => settle(code === 0))
  })
}
