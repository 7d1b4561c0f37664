import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { emptyDirectory, spawnProcess } from '../support/cli.ts'
import { pack, root } from '../support/packed.ts'
import { isSoak } from './seeded.ts'

/** The least that `engines` names, the lines with long support since, and the newest. */
const nodes = ['20.19.0', '20', '22', '24', 'latest']

describe.runIf(isSoak)('the packed file, installed by npm in an empty project', () => {
  let project: string
  beforeAll(async () => {
    project = await emptyDirectory()
    const { path } = await pack()
    await writeFile(join(project, 'package.json'), '{ "private": true }')
    await run('npm', 'install', '--omit=dev', '--no-audit', '--no-fund', path)
  }, 300_000)

  /** Runs a program. Returns its output. @throws when it fails. */
  async function run(file: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await (await spawnProcess(file, args, { cwd: project })).ended
    expect({ file, args, code, stderr }).toMatchObject({ code: 0 })
    return stdout
  }

  test('runs with npx, and its entry points can be imported', async () => {
    expect(await run('npx', 'tabwire', '--version')).toMatch(/^tabwire\/\d/)
    await run('node', '--input-type=module', '-e', "await import('tabwire/signature')")
  })

  test.each(nodes)(
    'runs the demo on Node %s',
    async (version) => {
      const bin = join('node_modules', 'tabwire', 'bin', 'run.js')
      const stdout = await run('npx', '--yes', '--package', `node@${version}`, '--', 'node', bin, 'demo')
      // The last step of the demo.
      expect(stdout).toMatch(
        /\n {2}✓ feedback\.received {2}over TLS, \d+ bytes, signature verified {2}evt_\w+\n$/,
      )
      process.stderr.write(`soak: the demo passed on Node ${version}\n`)
    },
    300_000,
  )
})

describe.runIf(isSoak)('the downloads', () => {
  test('of all platforms find their Node.js, with any version of npm', { timeout: 900_000 }, async () => {
    const script = `
      import { existsSync } from 'node:fs'
      import { targets } from './src/release/downloads.js'
      import { fetchTools } from './src/release/pack.js'
      const tools = fetchTools(Object.keys(targets), process.argv[1])
      console.log(Object.keys(targets).filter((name) => existsSync(tools + '/' + targets[name].node)).join())`
    const args = ['--input-type=module', '-e', script, await emptyDirectory()]
    const { code, stdout, stderr } = await (await spawnProcess('node', args, { cwd: root })).ended
    expect({ code, stderr, stdout }).toEqual({
      code: 0,
      stderr: '',
      stdout: 'linux-x64,linux-arm64,win-x64,darwin-arm64,darwin-x64\n',
    })
  })
})
