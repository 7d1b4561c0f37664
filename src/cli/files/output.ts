import { open, stat } from 'node:fs/promises'
import { openPrivateFile } from '../../private-file.ts'

/** A file or pipe that is open for one text. */
export interface Output {
  replace(text: string): Promise<void>
  /** Closes it; a file that got no text stays as it was. */
  discard(): Promise<void>
}

/**
 * Opens a file that a flag names for output. A file is replaced as a whole and never through a symbolic link, which may have
 * come with a clone; pipes and devices are written to as they are.
 * @throws NodeJS.ErrnoException when it cannot be written.
 */
export async function openOutput(file: string, mode: number): Promise<Output> {
  return (await isPipe(file)) ? openPipe(file) : openPrivateFile(file, { mode })
}

/** Returns true for a pipe or a device, such as `/dev/stdout` or a shell's `>(…)`, which cannot be replaced. */
export async function isPipe(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && (found.isFIFO() || found.isCharacterDevice())
}

async function openPipe(file: string): Promise<Output> {
  const handle = await open(file, 'w')
  return { replace: (content) => handle.writeFile(content), discard: () => handle.close() }
}
