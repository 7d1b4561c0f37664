import type { JsonText } from '../../client.ts'
import { createSimulator, type Simulator } from '../../library/create-simulator.ts'
import type { PushInput } from '../../model/check.ts'
import { byCheck, permute, type Convergence } from '../../verdicts/permute.ts'
import { pushesInLog, type RecordedPush } from '../../verdicts/recorded.ts'
import { failed, passed, type Outcome } from './outcome.ts'

/** In which orders pushes are tried. */
export interface ConvergeOptions {
  /** How many beside the one in which they came; 20 unless said otherwise. */
  orders?: number
  /** What the orders follow from; 1 unless said otherwise. */
  seed?: number
  /** Of the pushes that the simulator has received, only those of this check (external id). */
  check?: string
}

/**
 * The pushes, of one check, or those that the simulator has received, of any, are made in other orders and some of them
 * twice. That happens in a simulator of its own: this one hears nothing of it, and nor do its receivers.
 */
export async function toConverge(
  simulator: Simulator,
  pushes?: readonly (PushInput | JsonText)[],
  { orders = 20, seed = 1, check }: ConvergeOptions = {},
): Promise<Outcome> {
  const recorded = pushes === undefined ? await pushesInLog(simulator, check) : pushes.map(recordedOf)
  if (recorded.length === 0) return failed('There is no push to make again: none was given or received.')
  const orderBy = await orderFieldOf(simulator)
  const trial = await createSimulator({ port: false, orderBy })
  try {
    const found: Convergence[] = []
    for (const ofOne of byCheck(recorded)) found.push(await permute(trial, ofOne, { orders, seed }))
    const diverging = found.filter(({ converged }) => !converged)
    if (diverging.length > 0) return failed(diverging.map((one) => inWords(one, orderBy)).join('\n'))
    return passed('The pushes were not to converge, but end in one state in any order.')
  } finally {
    await trial.close()
  }
}

/** The field by which the service orders pushes. */
async function orderFieldOf(simulator: Simulator): Promise<string> {
  const answer = await simulator.fetch('/_sim/health')
  return ((await answer.json()) as { order_by: string }).order_by
}

function recordedOf(body: PushInput | JsonText, index: number): RecordedPush {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  return { id: 'the check', name: `push ${index + 1}`, body: text }
}

function inWords({ external_check_id, pushes, divergence }: Convergence, orderBy: string): string {
  const { fields = [], endings = [] } = divergence ?? {}
  const numbered = pushes.map((name, index) => `  ${index + 1} = ${name}`)
  const [one, other] = endings.map(({ order }) => order.join(' '))
  return [
    `The pushes of ${external_check_id} end in different states, in the orders ${one} and ${other}:`,
    ...numbered,
    `They differ in ${fields.join(', ')}. Send ${orderBy} with each push, growing with each change: it orders them.`,
  ].join('\n')
}
