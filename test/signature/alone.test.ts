import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { emptyDirectory, spawnProcess } from '../support/cli.ts'

const dist = fileURLToPath(new URL('../../dist/signature/', import.meta.url))

/** Node's permission model, under the name that this Node has for it: what was not allowed to be read fails. */
const permission = ['--permission', '--experimental-permission'].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
)

/** Uses all of a module that was imported as `all`, and prints the outcome. */
const use = `
const secret = 'whsec_x'
const payload = '{"id":"evt_1","type":"ping","created_at":"2026-01-02T03:04:05.000Z","data":{}}'
const header = await all.sign({ payload, secret })
console.log((await all.verify({ payload, header, secret })).ok, all.parseEvent(payload).type)
console.log(await all.verifyOrThrow({ payload, header: '', secret }).catch?.((e) => e.code))
`

test.each([
  ['node', ['node:crypto']],
  ['web', []],
])(
  'tabwire/signature for %s is one file, and works when no other file can be read',
  async (name, imports) => {
    const text = await readFile(join(dist, `${name}.js`), 'utf8')
    expect(
      [...text.matchAll(/\b(?:from|import|require)\b[ (]*["']([^"']+)/g)].map(([, from]) => from),
    ).toEqual(imports)

    const cwd = await emptyDirectory()
    const file = join(cwd, 'alone.mjs')
    // The attempt is made here as well, or what can be read would not be known to be little.
    const program = `${text}
import { readFileSync } from 'node:fs'
try { readFileSync(${JSON.stringify(join(dist, 'options.js'))}); console.log('read') } catch ({ code }) { console.log(code) }
const all = { sign, verify, parseEvent, verifyOrThrow: async (given) => verifyOrThrow(given) }
${use}`
    await writeFile(file, program)
    const args = [permission ?? '', `--allow-fs-read=${file}`, file]
    const { stdout, code } = await (await spawnProcess(process.execPath, args, { cwd })).ended
    expect({ stdout, code }).toEqual({ stdout: 'ERR_ACCESS_DENIED\ntrue ping\nmissing_header\n', code: 0 })
  },
)
