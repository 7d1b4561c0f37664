import { lstat } from 'node:fs/promises'
import { CommandError, usageError } from '../../errors.ts'
import { openOutput } from '../../files/output.ts'
import type { Scenario } from '../schema.ts'

/** @throws CommandError (usage) when the file exists, unless it may be replaced. */
export async function requireFree(file: string, force: boolean): Promise<void> {
  if (force) return
  const found = await lstat(file).catch(() => undefined)
  if (found?.isFile() === true)
    throw usageError(`--out: ${file} already exists. Pass --force to replace it, or another --out FILE.`)
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
