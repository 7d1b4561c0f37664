import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Holds `JSONTestSuite` and `blns`, which are not part of this repository; tests that need them are skipped without it. */
export const testData = process.env.TABWIRE_TEST_DATA

/** The files of JSONTestSuite that begin so: `y_` is to be accepted, `n_` to be refused, `i_` is left open. */
export function jsonTests(prefix: 'y_' | 'n_' | 'i_'): { name: string; body: Buffer }[] {
  const directory = join(testData ?? '', 'JSONTestSuite', 'test_parsing')
  return readdirSync(directory)
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ name, body: readFileSync(join(directory, name)) }))
}

/** The big list of naughty strings. */
export function naughtyStrings(): string[] {
  return JSON.parse(readFileSync(join(testData ?? '', 'blns', 'blns.json'), 'utf8')) as string[]
}
