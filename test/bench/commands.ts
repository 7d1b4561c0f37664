import { createHmac } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Figure } from './figure.ts'
import { API_KEY, output, startTabwire } from './processes.ts'

const RUNS = 11
/** Alternates with the bare HMAC, so that other load of the machine affects both. */
const ROUNDS = 15
const SIGNATURES = 20_000

/** Measures the start, compared with an empty command, and a signature, compared with its HMAC. */
export async function commandFigures(
  directory: (name: string) => string,
  scratch: string,
): Promise<Figure[]> {
  const hello = emptyCommand(scratch)
  const empties: number[] = []
  const starts: number[] = []
  const verified: number[] = []
  // By turns, since the machine's own speed goes up and down.
  for (let run = 0; run < RUNS; run++) {
    empties.push((await output([hello, 'hello'])).milliseconds)
    starts.push(await startToAnswer(directory(`start-${run}`)))
    verified.push((await verifyOnce()).milliseconds)
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

async function startToAnswer(directory: string): Promise<number> {
  const started = performance.now()
  const service = await startTabwire(directory)
  const headers = { authorization: `Bearer ${API_KEY}` }
  await (await fetch(`${service.url}/v1/locations`, { headers })).text()
  const milliseconds = performance.now() - started
  await service.end()
  return milliseconds
}

/** A minimal oclif program: one command that prints a word, with a manifest. */
function emptyCommand(scratch: string): string {
  const commands = join(scratch, 'empty', 'commands')
  mkdirSync(commands, { recursive: true })
  const oclif = { bin: 'empty', commands: './commands' }
  const manifest = {
    version: '1.0.0',
    commands: {
      hello: { id: 'hello', args: {}, flags: {}, aliases: [], relativePath: ['commands', 'hello.js'] },
    },
  }
  const files = {
    'package.json': JSON.stringify({ name: 'empty', version: '1.0.0', type: 'module', oclif }),
    'oclif.manifest.json': JSON.stringify(manifest),
    'run.js': "import { execute } from '@oclif/core'\nawait execute({ dir: import.meta.url })\n",
    'commands/hello.js':
      "import { Command } from '@oclif/core'\nexport default class Hello extends Command {\n  async run() {\n    await this.parse(Hello)\n    this.log('hello')\n  }\n}\n",
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(scratch, 'empty', name), text)
  return join(scratch, 'empty', 'run.js')
}

const secret = 'whsec_bench'
const body = JSON.stringify({ id: 'evt_1', type: 'check.created', padding: 'x'.repeat(1000) })

function verifyOnce() {
  const t = Math.floor(Date.now() / 1000)
  const header = `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
  return output(['bin/run.js', 'verify', '--secret', secret, '--header', header], body)
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
