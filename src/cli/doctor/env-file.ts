import { openEnvFile } from '../files/env-file.ts'
import { CommandError } from '../errors.ts'
import type { Finding, Surroundings } from './finding.ts'

/** Whether a start could write the file that `--env-file` names. */
export async function* checkEnvFile({ envFile }: Surroundings): AsyncGenerator<Finding, void> {
  if (envFile === undefined) return
  try {
    await openEnvFile(envFile)
    yield { check: 'env file', level: 'good', message: `${envFile} can be written.` }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    yield { check: 'env file', level: 'bad', message: error.message }
  }
}
