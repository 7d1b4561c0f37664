import type { Figure } from './figure.ts'
import { residentMiB, run, startTabwire } from './processes.ts'

const CHECKS = 1_000
const FIRST = 100_000
const ALL = 1_000_000
/** Looks at the memory of a process that has nothing to do: what is garbage may still be there at the first of them. */
const LOOKS = 20

/** What pushes leave behind in memory, when what is stored does not grow. It takes minutes, so it is run by its name alone. */
export async function memoryFigures(directory: (name: string) => string): Promise<Figure[]> {
  const service = await startTabwire(directory('memory'))
  const push = (first: number, amount: number) => run({ url: service.url, checks: CHECKS, first, amount })
  const { failed } = await push(1, FIRST)
  const early = await medianResident(service.pid)
  const rest = await push(FIRST + 1, ALL - FIRST)
  const late = await medianResident(service.pid)
  await service.end()
  return [
    { name: `resident memory after ${FIRST} pushes to ${CHECKS} checks`, value: early, unit: 'MiB' },
    { name: `after ${ALL}`, value: late, unit: 'MiB' },
    {
      name: `memory after ${ALL} pushes / after ${FIRST}`,
      value: late / early,
      unit: '×',
      target: { atMost: 1.2 },
    },
    { name: 'pushes that failed', value: failed + rest.failed, unit: '', target: { atMost: 0 } },
  ]
}

async function medianResident(pid: number): Promise<number> {
  const values: number[] = []
  while (values.length < LOOKS) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    values.push(residentMiB(pid) ?? Number.NaN)
  }
  return values.sort((a, b) => a - b)[LOOKS / 2] ?? Number.NaN
}
