import { expect } from 'vitest'
import type { SimulatorOptions } from '../../src/simulator.ts'
import { check, item, openSimulator, type Answer, type TestSimulator } from '../support/simulator.ts'

export type Target = Awaited<ReturnType<typeof openTarget>>

/** Opens a simulator with a check, and asserts later that an attack did no harm. */
export async function openTarget(options: SimulatorOptions = {}) {
  const simulator = await openSimulator(options)
  const earlier = await simulator.push('earlier', { items: [item('burger', { note: 'é 🍮 "x" \\ \u2028' })] })
  let pushes = 0
  return {
    ...simulator,
    /** Fails unless the data is unchanged and the responses leak nothing. */
    async stands(...answers: readonly Answer[]) {
      answers.forEach(tellsNothing)
      expect((await simulator.call('GET /v1/checks/external/earlier')).text).toBe(earlier.text)
      expect(await simulator.push(`next-${pushes++}`)).toMatchObject({ status: 201 })
    },
  }
}

/** An answer has an id of its own, and neither a stack trace, a path of the machine nor a secret in its body. */
export function tellsNothing({ headers, text }: Answer): void {
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
  expect(text).not.toMatch(/ at [^\n]*:\d+:\d+|node_modules|\/(home|work|tmp|usr)\/|twk_|whsec_/)
}

/** The external ids of all checks that there are, but for those of `openTarget`. */
export async function checksOf({ client }: Pick<TestSimulator, 'client'>): Promise<string[]> {
  const { data } = await client.checks.list({ limit: 100 })
  return data.map(({ external_id }) => external_id).filter((id) => !/^(earlier|next-\d+)$/.test(id))
}

export const valid = JSON.stringify(check())
