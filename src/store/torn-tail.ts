import { open, readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { syncDirectory } from '../replace-file.ts'
import { fileIn, OWNER_ONLY, type StoreFile } from './disk.ts'
import type { Loaded, Notice, StoreFiles } from './load.ts'

/**
 * Saves what was left out of each journal beside it, for whoever wants to know what it was. Nothing depends upon it.
 * Each time under a name of its own, so that nothing is overwritten.
 */
export async function saveTornTails(
  files: StoreFiles,
  { old, current }: Loaded,
  onNotice: Notice,
): Promise<void> {
  if (old !== undefined && old.torn.length > 0) await save(files.old, old.torn, onNotice)
  if (current !== undefined && current.torn.length > 0) await save(files.current, current.torn, onNotice)
}

async function save(journal: StoreFile, tail: Buffer, onNotice: Notice): Promise<void> {
  const directory = dirname(journal.path)
  const aside = fileIn(directory, freeName(await readdir(directory), `${basename(journal.path)}.torn`))
  const file = await open(aside.path, 'wx', OWNER_ONLY)
  try {
    await file.writeFile(tail)
    await file.sync()
  } finally {
    await file.close()
  }
  await syncDirectory(directory)
  onNotice(
    `The last line of ${journal.shown} was not written to its end (${tail.length} bytes) and is left out; it is kept in ${aside.shown}. It was never acknowledged: whoever sent it got no answer.`,
  )
}

/** The first of `db.json.damaged-1`, `db.json.damaged-2` … that no file has yet. */
export function freeName(taken: readonly string[], name: string): string {
  for (let number = 1; ; number += 1) if (!taken.includes(`${name}-${number}`)) return `${name}-${number}`
}
