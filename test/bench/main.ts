/* `npm run bench [-- --only pushes,deliveries,commands,simulators,inspector,memory,large,postgres] [--peers] [--out FILE]`: one table, and the same as JSON. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commandFigures } from './commands.ts'
import { deliveryFigures } from './deliveries.ts'
import { isMet, table, type Figure } from './figure.ts'
import { inspectorFigures } from './inspector.ts'
import { largeFigures } from './large.ts'
import { memoryFigures } from './memory.ts'
import { comparePeers, comparisonTable, type Compared } from './peers/comparison.ts'
import { output } from './processes.ts'
import { postgresFigures } from './postgres.ts'
import { pushFigures } from './pushes.ts'
import { simulatorFigures } from './simulators.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, peers: { type: 'boolean', default: false }, out: { type: 'string' } },
})
const scratch = mkdtempSync(join(tmpdir(), 'tabwire-bench-'))
const directory = (name: string) => join(scratch, name)

const suites: Record<string, () => Promise<Figure[]>> = {
  commands: () => commandFigures(directory, join(import.meta.dirname)),
  pushes: async () => pushFigures(directory, await certificates()),
  deliveries: async () => deliveryFigures(directory, await certificates()),
  inspector: async () => inspectorFigures(directory, await certificates()),
  memory: () => memoryFigures(directory),
  simulators: simulatorFigures,
  large: () => largeFigures(directory),
  postgres: () => postgresFigures(directory),
}
/** Benchmarks that take minutes run only on request. */
const usual = ['commands', 'pushes', 'deliveries', 'simulators']

const chosen = [...(values.only?.split(',') ?? usual), ...(values.peers ? ['peers'] : [])]
const figures: Figure[] = []
const compared: Compared[] = []
try {
  for (const name of chosen.filter((name) => name in suites)) {
    const found = (await suites[name]?.()) ?? []
    figures.push(...found)
    process.stdout.write(`${name}\n${table(found)}\n\n`)
  }
  if (chosen.includes('peers')) {
    const told = ({ peer }: Compared) => process.stderr.write(`${peer} is done\n`)
    compared.push(...(await comparePeers(scratch, told)))
    process.stdout.write(`peers\n${comparisonTable(compared)}\n\n`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
if (values.out !== undefined)
  writeFileSync(
    values.out,
    `${JSON.stringify(
      [...figures.map((figure) => ({ ...figure, met: isMet(figure) })), ...compared],
      null,
      2,
    )}\n`,
  )
const missed = figures.filter((figure) => isMet(figure) === false)
process.stdout.write(
  missed.length === 0
    ? 'Every figure is met.\n'
    : `${missed.length} of ${figures.length} figures are missed.\n`,
)

async function certificates() {
  const args = [
    'bin/run.js',
    'certs',
    'create',
    'localhost',
    '--out',
    scratch,
    '--data-dir',
    directory('ca'),
    '--json',
  ]
  return JSON.parse((await output(args)).stdout) as { cert: string; key: string }
}
