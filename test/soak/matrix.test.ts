import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptyDirectory, spawnProcess } from '../support/cli.ts'
import { pack, readManifest, root } from '../support/packed.ts'
import { matrixTable, rows, tableOf, type Row } from './matrix/rows.ts'
import { isSoak } from './seeded.ts'

const programs = fileURLToPath(new URL('matrix/', import.meta.url))

test('the README of the tests contains the matrix', async () => {
  expect(await readFile(join(root, 'test', 'README.md'), 'utf8')).toContain(`\n${matrixTable()}`)
})

test.each([
  ['vitest', 'Vitest'],
  ['msw', 'msw'],
])('the matrix has a row for each range of %s that the package accepts', async (name, what) => {
  const accepted = (await readManifest(root)).peerDependencies?.[name]?.split(' || ')
  const tried = rows.filter((row) => row.what === what).map(({ range }) => range)
  expect(tried).toEqual(expect.arrayContaining(accepted ?? ['a range']))
})

describe.runIf(isSoak)('the packed file', () => {
  /** In the order of the rows, independent of the order of tests. */
  const results = new Map(rows.map((row) => [row, [row.what, row.range, '', '', row.loaded, 'not run']]))
  const nodes = new Map<string, Promise<string>>()
  let packed: string
  beforeAll(async () => {
    packed = (await pack()).path
  })
  afterAll(() => {
    const heading = ['runs on', 'asked for', 'version', 'Node.js', 'loaded by', 'result']
    process.stderr.write(`\n${tableOf(heading, [...results.values()])}`)
  })

  /** Runs a program. Returns its output. @throws when it fails. */
  async function run(cwd: string, file: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await (await spawnProcess(file, args, { cwd })).ended
    if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`)
    return stdout
  }

  /** Where npm keeps a Node.js of a version. */
  function nodeOf(version: string | undefined, cwd: string): Promise<string> {
    if (version === undefined) return Promise.resolve(process.execPath)
    const args = ['--yes', '--package', `node@${version}`, '--', 'node', '-p', 'process.execPath']
    const found = nodes.get(version) ?? run(cwd, 'npx', ...args).then((path) => path.trim())
    nodes.set(version, found)
    return found
  }

  async function install({ packages, files }: Row): Promise<string> {
    const project = await emptyDirectory()
    await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    for (const [from, to] of Object.entries(files)) await copyFile(join(programs, from), join(project, to))
    await run(project, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', packed, ...packages)
    return project
  }

  test.each(rows)(
    'runs on $what $range, loaded by $loaded',
    async (row) => {
      const line = [row.what, row.range, '', '', row.loaded, 'failed']
      results.set(row, line)
      const project = await install(row)
      const node = await nodeOf(row.node, project)
      line[3] = (await run(project, node, '-p', 'process.versions.node')).trim()
      line[2] =
        row.versionOf === 'node'
          ? line[3]
          : (await readManifest(join(project, 'node_modules', row.versionOf))).version
      for (const [program, ...args] of row.commands)
        await run(project, program === 'node' ? node : program, ...args)
      line[5] = 'passed'
    },
    600_000,
  )
})
