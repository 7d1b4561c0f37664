import { readFile } from 'node:fs/promises'
import { CommandError } from './failure.ts'

/** Reads the bytes of a file, or of standard input when the name is `-`. */
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

async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
