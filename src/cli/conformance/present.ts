import { writeFile } from 'node:fs/promises'
import { toJUnit } from '../../conformance/report/junit.ts'
import type { ConformanceReport } from '../../conformance/report/result.ts'
import { toTap } from '../../conformance/report/tap.ts'
import { CommandError } from '../errors.ts'
import { renderConformance } from '../render/conformance.ts'

interface Wanted {
  json: boolean
  tap: boolean
  junit: string | undefined
  /** How wide the terminal is. */
  columns?: number
}

/**
 * What to print of a report, with its line break; the JUnit file is written first, so that a reader of standard output
 * finds it. `--json` goes before `--tap`.
 * @throws CommandError when the file cannot be written.
 */
export async function present(
  report: ConformanceReport,
  { json, tap, junit, columns }: Wanted,
): Promise<string> {
  if (junit !== undefined) await writeReport(junit, await toJUnit(report))
  if (json) return `${JSON.stringify(report, null, 2)}\n`
  return tap ? toTap(report) : `${renderConformance(report, columns)}\n`
}

async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `The report cannot be written to ${file} (${code}).`)
  }
}
