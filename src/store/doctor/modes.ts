import type { Entry } from './survey.ts'

/** What holds no secret: git's list, and certificates, which are there to be handed out. */
const open = (name: string) => name.endsWith('.gitignore') || /(?<!key)\.pem$/.test(name)

/** The mode that a file or folder should have, when others than its owner may reach into it now. */
export function modeWanted({
  name,
  mode,
  folder,
}: Pick<Entry, 'name' | 'mode' | 'folder'>): number | undefined {
  if (process.platform === 'win32' || open(name) || (mode & 0o077) === 0) return undefined
  return folder ? 0o700 : 0o600
}
