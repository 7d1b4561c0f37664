import { open } from 'node:fs/promises'
import { CommandError } from './failure.ts'

/**
 * A file for a secret, readable by its owner alone. It is opened before there is a secret: one that is shown once and
 * then cannot be written would be lost.
 */
export async function openSecretFile(file: string) {
  try {
    const handle = await open(file, 'a', 0o600)
    await handle.chmod(0o600)
    return {
      async write(secret: string): Promise<void> {
        if ((await handle.stat()).isFile()) await handle.truncate()
        await handle.writeFile(`${secret}\n`)
      },
      close: () => handle.close(),
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `${file} cannot be written (${code}). Choose another file.`)
  }
}
