import { spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { join, resolve } from 'node:path'
import { isInspectorLink } from '../model/simulator/inspector-link.ts'
import { writePrivateFile } from '../private-file.ts'
import { makeDirectories } from '../replace-file.ts'
import { stateHome } from './trust/installation.ts'

/** Command that opens a page on each system; other systems have that of freedesktop. */
const openers: Partial<Record<NodeJS.Platform, readonly [file: string, ...args: string[]]>> = {
  darwin: ['open'],
  // Not `start`, a shell command, in which `&` in an address ends the command.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
const FREEDESKTOP = ['xdg-open'] as const

/** Wait for a failure, in milliseconds: some openers run as long as the browser does. */
const EXIT_TIMEOUT_MS = 2_000

/**
 * Opens a link to the inspector in the browser. Resolves with false when that is known to have failed. The system's
 * opener starts programs for files and schemes, so it gets only a page of ours that redirects to the link; other
 * texts are not opened. The link itself would be visible in the list of processes.
 * @param directory The data directory, where the page is written; the user's state directory when it does not exist.
 */
export async function openInBrowser(link: string, directory: string): Promise<boolean> {
  if (!isInspectorLink(link)) return false
  const page = await writeOpeningPage(link, directory).catch(() => undefined)
  return page !== undefined && run(page)
}

/**
 * Writes the redirecting page, readable by this user alone, and resolves with its path. There is one at a time. It
 * stays, since nothing reports when the browser has read it; its link works once, for ten minutes.
 */
export async function writeOpeningPage(link: string, directory: string): Promise<string> {
  const found = await stat(directory).catch(() => undefined)
  const folder = found?.isDirectory() === true ? resolve(directory) : stateHome()
  await makeDirectories(folder, 0o700)
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
    const timeout = setTimeout(() => settled(true), EXIT_TIMEOUT_MS)
    const settle = (opened: boolean) => {
      clearTimeout(timeout)
      settled(opened)
    }
    child.once('error', () => settle(false))
    child.once('exit', (code) => settle(code === 0))
  })
}
