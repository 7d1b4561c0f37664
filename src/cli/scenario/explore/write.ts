import { lstat } from 'node:fs/promises'
import { CommandError, usageError } from '../../errors.ts'
import { openOutput } from '../../files/output.ts'
import type { Scenario } from '../schema.ts'

const FILE = 'tabwire-counterexample'

/**
 * Returns the file to write: the named one, or a new one in the working directory.
 * @throws CommandError (usage) when the named file exists, unless it may be replaced.
 */
export async function outputFile(named: string | undefined, force: boolean): Promise<string> {
  if (named === undefined) return force ? `${FILE}.json` : newFile()
  if (force || !(await isFile(named))) return named
  throw usageError(`--out: ${named} already exists. Pass --force to replace it, or another --out FILE.`)
}

/** Returns the first name that no file has: with a number from 2 on, where the plain one is taken. */
async function newFile(): Promise<string> {
  for (let number = 1; ; number += 1) {
    const file = number === 1 ? `${FILE}.json` : `${FILE}-${number}.json`
    if (!(await isFile(file))) return file
  }
}

async function isFile(file: string): Promise<boolean> {
  const found = await lstat(file).catch(() => undefined)
  return found?.isFile() === true
}

/** Writes a scenario. @throws CommandError when the file cannot be written. */
export async function writeScenario(file: string, scenario: Scenario): Promise<void> {
  try {
    const output = await openOutput(file, 0o644)
    try {
      await output.replace(`${JSON.stringify(scenario, null, 2)}\n`)
    } finally {
      await output.discard()
    }
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `--out: cannot write the scenario to ${file} (${code}).`)
  }
}
