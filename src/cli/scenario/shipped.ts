import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMeanSentence } from '../../model/text/advice.ts'
import { usageError } from '../errors.ts'
import { packageFile } from '../../package-file.ts'

const folder = fileURLToPath(packageFile('fixtures/scenarios/'))

/** Returns the names of the built-in scenarios. */
export async function shippedNames(): Promise<string[]> {
  const files = await readdir(folder)
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort()
}

export function shippedFile(name: string): string {
  return join(folder, `${name}.json`)
}

/**
 * Returns the file of a path or of a built-in scenario's name.
 * @throws CommandError (usage) when there is none.
 */
export async function scenarioFile(word: string): Promise<string> {
  if (word === '-' || /[\\/]|\.json$/i.test(word) || existsSync(word)) return word
  const names = await shippedNames()
  if (names.includes(word)) return shippedFile(word)
  const guess = didYouMeanSentence(word, names)
  throw usageError(
    `No such file or built-in scenario: ${JSON.stringify(word)}.${guess} Built in: ${names.join(', ')}.`,
  )
}
