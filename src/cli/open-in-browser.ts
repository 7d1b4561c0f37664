import { spawn } from 'node:child_process'
import { platform } from 'node:os'
import { isInspectorLink } from '../model/inspector-link.ts'

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
 * starts programs for files and for schemes, so it is given nothing but such a link; any other text is not opened.
 */
export async function openInBrowser(link: string): Promise<boolean> {
  if (!isInspectorLink(link)) return false
  const [file, ...args] = openers[platform()] ?? FREEDESKTOP
  const child = spawn(file, [...args, link], { stdio: 'ignore', detached: true })
  child.unref()
  return new Promise((resolve) => {
    const patience = setTimeout(() => resolve(true), PATIENCE_MS)
    const settle = (opened: boolean) => {
      clearTimeout(patience)
      resolve(opened)
    }
    child.once('error', () => settle(false))
    child.once('exit', (code) => settle(code === 0))
  })
}
