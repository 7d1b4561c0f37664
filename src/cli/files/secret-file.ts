import { open, stat } from 'node:fs/promises'
import { openPrivateFile } from '../../private-file.ts'
import { CommandError } from '../errors.ts'

/**
 * A file for a secret, readable by its owner alone. It is opened before there is a secret: one that is shown once and
 * then cannot be written would be lost.
 * @throws CommandError when it cannot be written, or is a symbolic link to a file.
 */
export async function openSecretFile(file: string) {
  try {
    const draft = (await isPipe(file)) ? await openPipe(file) : await openPrivateFile(file)
    return {
      write: (secret: string) => draft.replace(`${secret}\n`),
      close: () => draft.discard(),
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `${file} cannot be written (${code}). Choose another file.`)
  }
}

/** A pipe or a device, such as `/dev/stdout` and what a shell makes of `>(…)`: it keeps nothing, and cannot be replaced. */
async function isPipe(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && (found.isFIFO() || found.isCharacterDevice())
}

async function openPipe(file: string) {
  const handle = await open(file, 'w')
  return { replace: (content: string) => handle.writeFile(content), discard: () => handle.close() }
}
