import { createHmac } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Figure } from './figure.ts'
import { API_KEY, output, startProgram, startTabwire, type Program } from './processes.ts'

const RUNS = 11
/** Alternates with the bare HMAC, so that other load of the machine affects both. */
const ROUNDS = 15
const SIGNATURES = 20_000

/** Measures the start, compared with an empty command, and a signature, compared with its HMAC. */
export async function commandFigures(
  directory: (name: string) => string,
  scratch: string,
): Promise<Figure[]> {
  const hello = writeProgram(scratch, 'hello', EMPTY_COMMAND)
  const least = writeProgram(scratch, 'start', LEAST_START)
  // A folder without settings and data.
  const folder = directory('folder')
  mkdirSync(folder)
  const empties: number[] = []
  const leasts: number[] = []
  const starts: number[] = []
  const verified: number[] = []
  // By turns, since the machine's own speed goes up and down.
  for (let run = 0; run < RUNS; run++) {
    empties.push((await output([hello, 'hello'], '', folder)).milliseconds)
    leasts.push(await startToAnswer(() => startProgram([least, 'start'])))
    starts.push(await startToAnswer(() => startTabwire(directory(`start-${run}`))))
    verified.push((await verifyOnce(folder)).milliseconds)
  }
  const empty = middle(empties)
  return [
    { name: 'an empty oclif command', value: empty, unit: 'ms' },
    {
      name: 'start to first answer, empty store / empty command',
      value: middle(starts) / empty,
      unit: '×',
      target: { atMost: 1 },
    },
    {
      name: 'start to first answer / least start',
      value: middle(starts) / middle(leasts),
      unit: '×',
      target: { atMost: 1.1 },
    },
    {
      name: 'tabwire verify / empty command',
      value: middle(verified) / empty,
      unit: '×',
      target: { atMost: 0.8 },
    },
    {
      name: 'signature checks / bare HMAC',
      value: await signatureRatio(),
      unit: '×',
      target: { atLeast: 0.7 },
    },
  ]
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) / 2] ?? Number.NaN
}

async function startToAnswer(start: () => Promise<Program>): Promise<number> {
  const started = performance.now()
  const service = await start()
  const headers = { authorization: `Bearer ${API_KEY}` }
  await (await fetch(`${service.url}/v1/locations`, { headers })).text()
  const milliseconds = performance.now() - started
  await service.end()
  return milliseconds
}

/** Prints a word. */
const EMPTY_COMMAND = `import { Command } from '@oclif/core'
export default class Hello extends Command {
  async run() {
    await this.parse(Hello)
    this.log('hello')
  }
}
`

/** The least that serves one path with oclif, h3 and listhen. Prints its address. */
const LEAST_START = `import { Command } from '@oclif/core'
import { H3, toNodeHandler } from 'h3'
import { listen } from 'listhen'
export default class Start extends Command {
  async run() {
    await this.parse(Start)
    const app = new H3().get('/v1/locations', () => ({ data: [] }))
    const { url } = await listen(toNodeHandler(app), { port: 0, hostname: '127.0.0.1', showURL: false })
    this.log(JSON.stringify({ url: url.slice(0, -1) }))
  }
}
`

/** Writes an oclif program with one command and a manifest. Returns its file to run. */
function writeProgram(scratch: string, command: string, source: string): string {
  const folder = join(scratch, `program-${command}`)
  mkdirSync(join(folder, 'commands'), { recursive: true })
  const manifest = {
    version: '1.0.0',
    commands: {
      [command]: {
        id: command,
        args: {},
        flags: {},
        aliases: [],
        relativePath: ['commands', `${command}.js`],
      },
    },
  }
  const oclif = { bin: 'program', commands: './commands' }
  const files = {
    'package.json': JSON.stringify({ name: 'program', version: '1.0.0', type: 'module', oclif }),
    'oclif.manifest.json': JSON.stringify(manifest),
    'run.js': "import { execute } from '@oclif/core'\nawait execute({ dir: import.meta.url })\n",
    [`commands/${command}.js`]: source,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return join(folder, 'run.js')
}

const secret = 'whsec_bench'
const body = JSON.stringify({ id: 'evt_1', type: 'check.created', padding: 'x'.repeat(1000) })

function verifyOnce(folder: string) {
  const t = Math.floor(Date.now() / 1000)
  const header = `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
  return output([resolve('bin/run.js'), 'verify', '--secret', secret, '--header', header], body, folder)
}

type Verify = (options: { payload: Buffer; header: string; secret: string; now: number }) => { ok: boolean }

async function signatureRatio(): Promise<number> {
  const built = pathToFileURL(join(process.cwd(), 'dist/signature/node.js')).href
  const { verify } = (await import(built)) as { verify: Verify }
  const payload = Buffer.from(body)
  const t = 1_763_748_245
  const bare = () => createHmac('sha256', secret).update(`${t}.`).update(payload).digest('hex')
  const header = `t=${t},v1=${bare()}`
  const checked = () => verify({ payload, header, secret, now: t * 1000 })
  if (!checked().ok) throw new Error('The signature under measurement does not verify.')
  timed(bare)
  timed(checked)
  return middle(Array.from({ length: ROUNDS }, () => timed(bare) / timed(checked)))
}

function timed(work: () => unknown): number {
  const started = performance.now()
  for (let n = 0; n < SIGNATURES; n++) work()
  return performance.now() - started
}
