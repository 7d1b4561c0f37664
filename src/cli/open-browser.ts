import { spawn } from 'node:child_process'

/** What opens an address in the browser of its user, by system. */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // Not `start`, which is cmd's own and reads an address as more than one.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Whether something was found that takes the address; what it does with it is not waited for. */
export function openInBrowser(url: string, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const [file, ...args] = openers[platform] ?? ['xdg-open']
  return new Promise((resolve) => {
    const child = spawn(file, [...args, url], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
