import { readRun } from '../../data-directory.ts'
import { isThisMachine } from './own-address.ts'

type Run = NonNullable<Awaited<ReturnType<typeof readRun>>>

/**
 * Returns what `run.json` of a data directory says, `undefined` without a readable one. An address of another machine
 * counts as none: the file may have come with a clone, and commands would call whatever it names.
 */
export async function readOwnRun(directory: string): Promise<Run | undefined> {
  const run = await readRun(directory)
  return run !== undefined && isThisMachine(new URL(run.url).hostname) ? run : undefined
}
