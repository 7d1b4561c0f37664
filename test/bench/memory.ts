import type { Figure } from './figure.ts'
import { residentMiB, run, startTabwire } from './processes.ts'

const CHECKS = 1_000
const FIRST = 100_000
const ALL = 1_000_000
/** Samples the memory of an idle process; the first samples may include garbage. */
const LOOKS = 20

/**
 * Measures the memory that pushes leave behind when the stored data does not grow. Takes minutes, so it runs only by
 * name.
 */
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
