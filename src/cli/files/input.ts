import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { CommandError } from '../errors.ts'

/**
 * Reads the bytes of a file, or of standard input when the name is `-`. At a terminal, where nothing would happen until a
 * person types, it says so on standard error.
 */
export async function readInput(file: string): Promise<Buffer> {
  if (file === '-') return readStandardInput()
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError(
      'unreadable_file',
      `${file} cannot be read: ${reasons[code ?? ''] ?? String(code)}.`,
    )
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
}

/** How people end what they type, on each system. */
export function endOfInput(system: NodeJS.Platform = platform()): string {
  return system === 'win32' ? 'Ctrl-Z, then Enter' : 'Ctrl-D'
}

async function readStandardInput(): Promise<Buffer> {
  if (process.stdin.isTTY) process.stderr.write(`Reading standard input. End it with ${endOfInput()}.\n`)
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
