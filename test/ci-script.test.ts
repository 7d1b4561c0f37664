import { existsSync, realpathSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { isSoak, sampled } from './soak/seeded.ts'
import { emptyDirectory, fixtures, spawnProcess, type Ended } from './support/cli.ts'
import { freePort } from './support/http-server.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const readFixture = (name: string) => readFile(join(fixtures, 'ci', name), 'utf8')

let script: string
let workflow: string
beforeAll(async () => {
  const guide = await readFile(join(root, 'src/guides/ci.md'), 'utf8')
  script = /^```sh\n(#!\/bin\/sh\n[^]*?)^```$/m.exec(guide)?.[1] ?? ''
  workflow = /^```yaml\n(name: [^]*?)^```$/m.exec(guide)?.[1] ?? ''
})

const programOf = (shell: string) => realpathSync(join('/bin', shell))
const isThere = (shell: string) => existsSync(join('/bin', shell))

/** A project that has this package among its own, as npm would put it there. */
async function project(): Promise<string> {
  const directory = await emptyDirectory()
  const packages = join(directory, 'node_modules')
  await mkdir(join(packages, '.bin'), { recursive: true })
  await mkdir(join(directory, 'ci'))
  await symlink(root, join(packages, 'tabwire'), 'dir')
  await chmod(join(root, 'bin', 'run.js'), 0o755)
  await symlink('../tabwire/bin/run.js', join(packages, '.bin', 'tabwire'))
  return directory
}

interface Outcome extends Ended {
  /** Files left in the project and in its temporary directory. */
  left: string[]
}

async function run(
  command: readonly string[],
  text: string,
  files: Record<string, string> = {},
): Promise<Outcome> {
  const [cwd, temporary] = [await project(), await emptyDirectory()]
  await writeFile(join(cwd, 'ci', 'contract-test.sh'), text)
  for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content)
  // Newer lines of Node keep compiled code in the temporary directory, on purpose.
  const env = { PORT: String(await freePort()), TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: '1' }
  const [shell = '', ...args] = command
  const ended = await (await spawnProcess(shell, args, { cwd, env })).ended
  return { ...ended, left: [...(await readdir(cwd)), ...(await readdir(temporary))] }
}

describe("the CI guide's script", () => {
  test('and its workflow are the files in fixtures/ci', async () => {
    expect(script).toBe(await readFixture('contract-test.sh'))
    expect(workflow).toBe(await readFixture('github-actions.yml'))
  })

  test('has no sleep in it', () => {
    expect(script).not.toMatch(/\bsleep\b/)
  })

  test('has a workflow beside it, which runs the tests with a service', () => {
    const { jobs } = parse(workflow) as { jobs: Record<string, { steps: { run?: string }[] }> }
    expect(Object.values(jobs)).toMatchObject([{ steps: expect.anything() as object[] }])
    const steps = Object.values(jobs)[0]?.steps ?? []
    expect(steps.at(-2)).toEqual({ run: 'npx tabwire exec --fail-on any --bundle failure.json -- npm test' })
    expect(steps.at(-1)).toMatchObject({ if: 'failure()', with: { path: 'failure.json' } })
  })

  // dash is what sh is on Debian and Ubuntu, and so on most machines of a CI.
  const shells = ['sh', 'dash', 'bash']
    .filter(isThere)
    .filter((name, place, names) =>
      names.slice(0, place).every((other) => programOf(name) !== programOf(other)),
    )

  test.each(sampled(shells, 4))(
    'passes in %s exactly as printed, and leaves nothing behind',
    async (shell) => {
      const { code, stdout, left } = await run([shell, 'ci/contract-test.sh'], script)
      expect({ code, left }).toEqual({ code: 0, left: ['ci', 'node_modules'] })
      expect(stdout).toMatch(/^unchanged {2}table-12/m)
      expect(stdout).toMatch(/^took check\.created\n/m)
      expect(stdout).toMatch(/\nThe application accepted all deliveries\.\n$/)
    },
  )

  test.runIf(isSoak)(
    'exits with 3 when the application refuses the deliveries, and leaves nothing behind',
    async () => {
      const app = (await readFixture('app.mjs')).replace('? 204 : 400', '? 500 : 400')
      expect(app).toContain('? 500')
      const text = script
        .replace('node_modules/tabwire/fixtures/ci/app.mjs', 'bad.mjs')
        .replaceAll('--timeout 10', '--timeout 1')
      const { code, stderr, left } = await run(['sh', 'ci/contract-test.sh'], text, { 'bad.mjs': app })
      expect({ code, left }).toEqual({ code: 3, left: ['bad.mjs', 'ci', 'node_modules'] })
      expect(stderr).toMatch(/failed at attempt 1: The receiver returned 500/)
    },
  )

  test.runIf(isSoak)('fails when the application does not start, and leaves nothing behind', async () => {
    const text = script.replace('node_modules/tabwire/fixtures/ci/app.mjs', 'none.mjs')
    const { code, left } = await run(['sh', 'ci/contract-test.sh'], text)
    expect({ code, left }).toEqual({ code: 1, left: ['ci', 'node_modules'] })
  })
})
