import { checkAuthority } from './authority.ts'
import { checkClock } from './clock.ts'
import { checkEnvFile } from './env-file.ts'
import type { Finding, Surroundings } from './finding.ts'
import { checkNode } from './node.ts'
import { checkPort } from './port.ts'
import { checkReceiver } from './receiver.ts'

type Check = (around: Surroundings) => Finding | Promise<Finding> | AsyncIterable<Finding>

/** In the order in which they are told. */
const checks: readonly Check[] = [
  () => checkNode(),
  checkPort,
  checkClock,
  checkEnvFile,
  checkAuthority,
  checkReceiver,
]

/** Looks at everything around the data directory, and changes nothing. */
export async function checkSurroundings(around: Surroundings): Promise<Finding[]> {
  const found: Finding[] = []
  for (const check of checks) {
    const result = await check(around)
    if (Symbol.asyncIterator in result) for await (const one of result) found.push(one)
    else found.push(result)
  }
  return found
}
