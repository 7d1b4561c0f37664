import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Figure } from './figure.ts'
import { output } from './processes.ts'

const PROCESSES = 5

/** Milliseconds from `createSimulator` to its first answer, in a process that has loaded the library. */
interface Taken {
  first: number
  /** Of a hundred that follow, closed one after the other. */
  median: number
}

/** Measures a simulator in a test: the first of a process and further ones, with and without a port. */
export async function simulatorFigures(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [access, options] of [
    ['on a port', {}],
    ['without a port', { port: false }],
  ] as const) {
    const taken: Taken[] = []
    for (let run = 0; run < PROCESSES; run++) taken.push(await inProcess(options))
    for (const which of ['first', 'median'] as const)
      figures.push({
        name: `createSimulator to first answer, ${access}, ${which === 'first' ? 'the first' : 'a further one'}`,
        value: middle(taken.map((one) => one[which])),
        unit: 'ms',
        target: { atMost: 30 },
      })
  }
  return figures
}

async function inProcess(options: object): Promise<Taken> {
  const library = pathToFileURL(join(process.cwd(), 'dist/index.js')).href
  const program = `
    const { createSimulator } = await import('${library}')
    const take = async () => {
      const started = performance.now()
      const simulator = await createSimulator(${JSON.stringify(options)})
      await simulator.locations.list()
      const taken = performance.now() - started
      await simulator.close()
      return taken
    }
    const first = await take()
    const further = []
    while (further.length < 100) further.push(await take())
    console.log(JSON.stringify({ first, median: further.sort((a, b) => a - b)[50] }))`
  const { stdout } = await output(['--input-type=module', '--eval', program])
  return JSON.parse(stdout) as Taken
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(PROCESSES - 1) / 2] ?? Number.NaN
}
