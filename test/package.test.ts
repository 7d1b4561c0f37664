import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { beforeAll, describe, expect, test } from 'vitest'
import { sign } from '../src/signature/node.ts'
import { isSoak } from './soak/seeded.ts'
import { spawnProcess } from './support/cli.ts'
import { fetched } from './support/fetched.ts'
import {
  pack,
  projectWith,
  readManifest,
  root,
  type Manifest,
  type Tarball,
  type Target,
} from './support/packed.ts'

/** The part of `@arethetypeswrong/core` that is used here. */
interface Judge {
  createPackageFromTarballData(data: Uint8Array): object
  checkPackage(
    judged: object,
  ): Promise<
    | { types: false }
    | { types: object; problems: { kind: string; resolutionKind?: string; entrypoint: string }[] }
  >
}

let tarball: Tarball
let project: string
let installed: string
let manifest: Manifest
beforeAll(async () => {
  tarball = await pack()
  ;({ project, installed } = await projectWith(tarball))
  manifest = await readManifest(installed)
})

/** Runs a program of JavaScript in the project. */
async function run(program: string, args: readonly string[] = []) {
  await writeFile(join(project, 'program.mjs'), program)
  return (await spawnProcess(process.execPath, ['program.mjs', ...args], { cwd: project })).ended
}

describe('the packed file', () => {
  const judge = fetched('@arethetypeswrong/core@0.18.5')

  test('has at most 1.3 MB, and at most 4.7 MB unpacked', async () => {
    const paths = tarball.files.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['oclif.manifest.json', 'bin/run.js', 'README.md', 'LICENSE']),
    )
    const folders = [...new Set(paths.map((path) => path.replace(/\/.*/, '')))].filter(
      (name) => !name.includes('.'),
    )
    expect(folders.sort()).toEqual(['LICENSE', 'bin', 'dist', 'fixtures', 'src'])
    expect(paths.filter((path) => !path.includes('/')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'oclif.manifest.json',
      'package.json',
    ])
    const guides = (await readdir(join(root, 'src/guides'))).map((name) => `src/guides/${name}`)
    expect(paths.filter((path) => path.startsWith('src/')).sort()).toEqual(guides.sort())
    expect(paths.filter((path) => /\.map$|\.tsbuildinfo$|\.test\.|(?<!\.d)\.ts$/.test(path))).toEqual([])
    expect(tarball.size).toBeLessThan(1.3e6)
    expect(tarball.unpackedSize).toBeLessThan(4.7e6)
  })

  test('has a file for each command of its manifest, and all types that its types import', async () => {
    const { commands } = JSON.parse(await readFile(join(installed, 'oclif.manifest.json'), 'utf8')) as {
      commands: Record<string, { relativePath: string[] }>
    }
    const files = Object.values(commands).map(({ relativePath }) => join(...relativePath))
    const paths = await readdir(join(installed, 'dist'), { recursive: true })
    const types = paths.filter((path) => path.endsWith('.d.ts')).map((path) => join('dist', path))
    const asked = await Promise.all(types.map(async (path) => typesAskedFor(path)))
    expect([...files, ...asked.flat()].filter((path) => !existsSync(join(installed, path)))).toEqual([])
  })

  test('has no findings of publint', async () => {
    const { buffer, byteOffset, byteLength } = await readFile(tarball.path)
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength)
    const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  test.skipIf(!isSoak)('resolves with its types in every mode of TypeScript', async () => {
    const data = new Uint8Array(await readFile(tarball.path))
    const { checkPackage, createPackageFromTarballData } = (await import(
      pathToFileURL(join(judge, 'node_modules/@arethetypeswrong/core/dist/index.js')).href
    )) as Judge
    const result = await checkPackage(createPackageFromTarballData(data))
    if (!('problems' in result)) throw new Error('There are no types.')
    // Node.js 20.19 can require ES modules, so this finding for CommonJS is expected.
    const found = result.problems.filter(
      ({ kind, resolutionKind }) => resolutionKind !== 'node16-cjs' || kind !== 'CJSResolvesToESM',
    )
    expect(found).toEqual([])
    const asModules = result.problems.flatMap((problem) =>
      problem.kind === 'CJSResolvesToESM' ? [problem.entrypoint] : [],
    )
    expect(asModules.filter((entrypoint) => entrypoint.startsWith('./signature'))).toEqual([])
  })
})

/** Paths that a declaration file imports, from the root of the package. */
async function typesAskedFor(path: string): Promise<string[]> {
  const text = await readFile(join(installed, path), 'utf8')
  const names = [...text.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)].map(([, name = '']) => name)
  return names.map((name) => join(path, '..', name.replace(/(?<!\.d)\.ts$/, '.d.ts')))
}

test('a clone installs at most 500 packages', async () => {
  const lock = await readFile(join(root, 'node_modules/.package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lock) as { packages: object }
  expect(Object.keys(packages).length).toBeLessThanOrEqual(500)
})

describe('in a project of its own', () => {
  const typescript = fetched('typescript@~6.0.3')

  test('every entry of the exports can be imported and required', async () => {
    const { code, stdout, stderr } = await run(`
      import { createRequire } from 'node:module'
      const entries = ${JSON.stringify(entriesOf(manifest))}
      const require = createRequire(import.meta.url)
      for (const entry of entries) {
        const names = Object.keys(await import(entry))
        console.log(entry, names.length > 0 && names.every((name) => name in require(entry)))
      }`)
    const expected = entriesOf(manifest).map((entry) => `${entry} true\n`)
    expect({ code, stdout, stderr: withoutWarnings(stderr) }).toEqual({
      code: 0,
      stdout: expected.join(''),
      stderr: '',
    })
    expect(entriesOf(manifest)).toContain('tabwire/signature/web')
  })

  const commonJs = ['tabwire/signature', 'tabwire/signature/web']

  /** Compiles a receiver for each entry; the soak does with other compilers, too. */
  async function compiled(): Promise<{ code: number | null; stdout: string }> {
    const payload = await readFile(join(installed, 'fixtures/events/check.closed.json'), 'utf8')
    for (const [index, entry] of commonJs.entries())
      await writeFile(
        join(project, `receiver-${index}.cts`),
        `import receiver = require('${entry}')
        async function take(payload: string, header: string | undefined): Promise<string> {
          const result = await receiver.verify({ payload, header, secret: 'whsec_x' })
          if (!result.ok) return result.code satisfies receiver.SignatureFailureCode
          const event: receiver.WebhookEvent = receiver.parseEvent(payload)
          return event.type === 'check.closed' ? event.data.external_id : ''
        }
        async function main(): Promise<void> {
          const payload = ${JSON.stringify(payload)}
          const header = await receiver.sign({ payload, secret: 'whsec_x' })
          console.log(await take(payload, header), await take(payload, undefined))
        }
        void main()`,
      )
    const compiler = isSoak
      ? join(typescript, 'node_modules/typescript/bin/tsc')
      : join(root, 'node_modules/typescript-native/bin/tsc')
    const node16 = ['--module', 'node16', '--target', 'es2022', '--strict', '--types', 'node']
    const typeRoots = ['--typeRoots', join(root, 'node_modules/@types')]
    const args = [compiler, ...node16, ...typeRoots, ...commonJs.map((_, index) => `receiver-${index}.cts`)]
    return (await spawnProcess(process.execPath, args, { cwd: project })).ended
  }

  test(`${commonJs.join(' and ')} are each one CommonJS file with types, for programs that cannot require ES modules`, async () => {
    expect(await compiled()).toMatchObject({ code: 0, stdout: '' })
    // As Jest does by default, whichever Node it runs on.
    const flag = '--no-experimental-require-module'
    const flags = process.allowedNodeEnvironmentFlags.has(flag) ? [flag] : []
    for (const [index] of commonJs.entries()) {
      const run = await spawnProcess(process.execPath, [...flags, `receiver-${index}.cjs`], { cwd: project })
      expect(await run.ended).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^\S+ missing_header\n$/) as string,
      })
    }
  })

  test('declarations of another package name only its entries', async () => {
    await writeFile(
      join(project, 'helpers.mts'),
      `import type { Simulator } from 'tabwire'
      import { createClient } from 'tabwire/client'
      export const client = createClient({ url: 'http://127.0.0.1:4100' })
      export const requests = async () => (await client.requests.list()).data
      export const claimed = (simulator: Simulator) => simulator.events.waitFor('claim.created')
      export const findings = async () => (await client.report()).findings
      export const items = async () => (await client.checks.get('a')).items
      export const attempts = async () => (await client.deliveries.get('a')).attempts
      export const push = async () => (await client.requests.get('a')).push
      export const lines = async () => (await client.claims.get('a')).items`,
    )
    const compiler = join(root, 'node_modules/typescript-native/bin/tsc')
    const flags = ['--declaration', '--emitDeclarationOnly', '--module', 'nodenext', '--strict']
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
    const args = [compiler, ...flags, ...types, 'helpers.mts']
    const running = await spawnProcess(process.execPath, args, { cwd: project })
    expect(await running.ended).toMatchObject({ code: 0, stdout: '' })
    expect(await readFile(join(project, 'helpers.d.mts'), 'utf8')).not.toContain('/dist/')
  })

  test('every entry has existing types, and the fixtures can be read', () => {
    const targets = Object.values(manifest.exports).flatMap(filesOf)
    expect(
      targets.filter((target) => !existsSync(join(installed, target.replace('*', 'locations.json')))),
    ).toEqual([])
  })

  test('every entry has the same types for a TypeScript that ignores exports', () => {
    const { exports, types, typesVersions } = manifest
    const typed = Object.entries(exports).flatMap(([entry, target]) => {
      const file = filesOf(target).findLast((path) => /\.d\.c?ts$|\.json$/.test(path))
      return file === undefined || file === entry ? [] : [[entry, file] as const]
    })
    const older = Object.entries(typesVersions['*']).map(([name, [file]]) => [`./${name}`, file] as const)
    expect({ '.': types, ...Object.fromEntries(older) }).toEqual(Object.fromEntries(typed))
  })

  test('every command can be loaded, and --help works', async () => {
    const { code, stdout, stderr } = await run(`
      import { Config, run } from '${join(root, 'node_modules/@oclif/core/lib/index.js')}'
      const config = await Config.load({ root: ${JSON.stringify(installed)} })
      for (const command of config.commands) {
        await command.load()
        await run([...command.id.split(':'), '--help'], { root: config.root }).catch((error) => {
          if (error.oclif?.exit !== 0) throw error
        })
      }
      console.error(config.commands.length)`)
    expect({ code, stderr: stderr.trim() }).toEqual({
      code: 0,
      stderr: stdout.match(/^USAGE$/gm)?.length.toString(),
    })
  })

  /** `.ci/run` names a Node that is newer than its own, when it can be had. */
  const { NEWER_NODE = '' } = process.env

  test.runIf(isSoak || NEWER_NODE === '')('the demo passes', async () => {
    const args = [join(installed, 'bin', 'run.js'), 'demo']
    const { code, stdout } = await (await spawnProcess(process.execPath, args, { cwd: project })).ended
    expect(code).toBe(0)
    expect(stdout).toContain('\n✓ the data of the last event and the check from the API are equal\n')
  })

  test.skipIf(NEWER_NODE === '')('the demo passes on the newer Node that NEWER_NODE names', async () => {
    const args = [join(installed, 'bin', 'run.js'), 'demo']
    const { code, stderr } = await (await spawnProcess(NEWER_NODE, args, { cwd: project })).ended
    expect({ code, stderr }).toMatchObject({ code: 0 })
  })

  test("the webhooks guide's receiver accepts signed requests and refuses others", async () => {
    const guide = await readFile(join(installed, 'src/guides/webhooks.md'), 'utf8')
    const receiver = /^```js\n\/\/ edge-receiver\.mjs\n([^]*?)^```$/m.exec(guide)?.[1] ?? ''
    const body = await readFile(join(installed, 'fixtures/events/check.closed.json'), 'utf8')
    const header = sign({ payload: body, secret: 'whsec_x' })
    const { stdout } = await run(`${receiver}
      for (const header of ${JSON.stringify([header, 't=1,v1=0'])}) {
        const init = { method: 'POST', body: ${JSON.stringify(body)}, headers: { 'X-Service-Signature': header } }
        console.log((await receive(new Request('http://x', init), 'whsec_x')).status)
      }`)
    expect(stdout).toMatch(/^\S+ \d+\n204\n400\n$/)
  })
})

/** `tabwire/signature` for `./signature`; patterns and JSON are no modules. */
function entriesOf({ exports }: Manifest): string[] {
  return Object.keys(exports)
    .filter((entry) => !/\*|\.json$/.test(entry))
    .map((entry) => `tabwire${entry.slice(1)}`)
}

function filesOf(target: Target): string[] {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(filesOf)
}

/** Node 20 and 22 tell that requiring ES modules is new. */
function withoutWarnings(stderr: string): string {
  return stderr.replace(/^\(node:\d+\) ExperimentalWarning: .*\n|^\(Use `node --trace-warnings.*\n/gm, '')
}
