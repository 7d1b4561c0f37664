import { existsSync } from 'node:fs'
import { chmod, cp, link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isSoak } from './soak/seeded.ts'
import { parse } from 'yaml'
import { emptyDirectory, spawnProcess } from './support/cli.ts'
import { root } from './support/packed.ts'
import { isInstalled } from './support/programs.ts'

const bashIsHere = isInstalled('bash')

/** A workflow that uses the action. */
const recipe = 'fixtures/ci/github-action.yml'

interface Action {
  name?: string
  description?: string
  author?: string
  branding?: Record<string, string>
  inputs?: Record<string, { default?: string }>
  outputs?: Record<string, unknown>
}

interface Job {
  permissions?: Record<string, string>
  needs?: string
  steps: Step[]
}

interface Step {
  uses?: string
  with?: Record<string, string>
  id?: string
  run?: string
  env?: Record<string, string>
}

const definition = () => parse(action) as Action

/** The scripts of an action's steps, by name. */
const scripts: Record<string, string> = {}
let action: string
beforeAll(async () => {
  action = await readFile(join(root, 'action.yml'), 'utf8')
  for (const [, name = '', script = ''] of action.matchAll(/- name: (.*)\n[^]*?run: \|\n((?: {8}.*\n|\n)+)/g))
    scripts[name] = script.replace(/^ {8}/gm, '')
})

describe('the GitHub action', () => {
  test('puts no input into a script, where it would be executed', () => {
    expect(Object.keys(scripts)).toEqual(['Install', 'Start', 'Check the receiver'])
    expect(Object.values(scripts).join('')).not.toContain('${{')
  })

  test('has what the Marketplace requires, at the top level, and no copy elsewhere', async () => {
    const { name, description = '', author, branding } = definition()
    expect({ name, author }).toEqual({ name: 'Tabwire', author: expect.any(String) as string })
    expect(description.length).toBeLessThanOrEqual(125)
    expect(branding).toEqual({ icon: 'credit-card', color: 'orange' })
    const files = await readdir(join(root, '.github'), { recursive: true })
    expect(files.filter((file) => /\baction\.ya?ml$/.test(file))).toEqual([])
  })

  test('has its inputs, defaults and outputs in the CI guide', async () => {
    const guide = await readFile(join(root, 'src/guides/ci.md'), 'utf8')
    const section = guide.split('\n### The action\n')[1]?.split('\n## ')[0] ?? ''
    const rows = [...section.matchAll(/^\| `([\w-]+)` +\| (.*?) +\|/gm)]
    const { inputs = {}, outputs = {} } = definition()
    const named = rows.map(([, name]) => name)
    expect(named).toEqual([...Object.keys(inputs), ...Object.keys(outputs)])
    const defaults = Object.values(inputs).map((input) => (input.default ? `\`${input.default}\`` : 'none'))
    expect(rows.slice(0, defaults.length).map(([, , value]) => value)).toEqual(defaults)
    const block = /^```yaml\n([^]*?)^```$/m.exec(section)?.[1]
    expect(block).toBe(await readFile(join(root, recipe), 'utf8'))
  })

  test('outputs the URL of the service and its key', () => {
    const outputs = [...action.matchAll(/steps\.start\.outputs\.([\w-]+)/g)].map(([, name]) => name)
    expect(outputs).toEqual(['url', 'base-url', 'api-key'])
  })

  /** A runner's folder, in which `npm` is one that installs what is here. */
  async function runner() {
    const directory = await emptyDirectory()
    const bin = join(directory, 'bin')
    await mkdir(bin)
    const launch = `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'bin/run.js')}" "$@"\n`
    const install = `#!/bin/sh\n[ "$1" != ci ] || exit 0\n[ "$1" != run ] || exec node "${directory}/tests.mjs"\necho "$@" >"${directory}/npm"\nto="$3/node_modules/.bin"\nmkdir -p "$to"\ncp "${bin}/launch" "$to/tabwire"\n`
    for (const [name, text] of Object.entries({ npm: install, launch })) {
      await writeFile(join(bin, name), text)
      await chmod(join(bin, name), 0o755)
    }
    const files = Object.fromEntries(
      ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH'].map((name) => [name, join(directory, name)]),
    )
    const path = [bin, join(directory, 'tabwire/node_modules/.bin'), process.env.PATH].join(delimiter)
    /** Runs a script as GitHub does. */
    const script = async (text: string, env: Record<string, string>) => {
      const file = join(directory, 'step.sh')
      await writeFile(file, text)
      const options = { cwd: directory, env: { ...files, RUNNER_TEMP: directory, PATH: path, ...env } }
      return (await spawnProcess('bash', ['--noprofile', '--norc', '-eo', 'pipefail', file], options)).ended
    }
    const step = (name: string, env: Record<string, string>) => script(scripts[name] ?? 'exit 99', env)
    const read = async (name: string) => readFile(join(directory, name), 'utf8')
    const written = async (name: string) => Object.fromEntries(pairsOf(await read(name)))
    return { directory, script, step, read, written }
  }

  test.runIf(bashIsHere)(
    'installs, starts, outputs the URL with a masked key, and checks a receiver',
    async () => {
      const { directory, step, read, written } = await runner()
      expect(await step('Install', { PACKAGE: 'tabwire@1.2.3' })).toMatchObject({ code: 0 })
      expect(await read('npm')).toMatch(/ tabwire@1\.2\.3\n$/)
      expect(await read('GITHUB_PATH')).toMatch(/\/tabwire\/node_modules\/\.bin\n$/)

      const [, flags = ''] = /^ {2}flags:\n.*\n {4}default: (.*)$/m.exec(action) ?? []
      const { code, stdout } = await step('Start', { FLAGS: flags })
      onTestFinished(() => stopService(join(directory, 'tabwire/.tabwire/run.json')))
      expect(code).toBe(0)
      const { url = '', 'base-url': base, 'api-key': key = '' } = await written('GITHUB_OUTPUT')
      expect(stdout).toBe(`::add-mask::${key}\n`)
      expect(base).toBe(`${url}/v1`)
      expect(await written('GITHUB_ENV')).toEqual({ TABWIRE_URL: url, TABWIRE_API_KEY: key })
      const answer = await fetch(`${base}/locations`, { headers: { authorization: `Bearer ${key}` } })
      expect(answer.status).toBe(200)

      const checked = await step('Check the receiver', { RECEIVER_URL: url, TABWIRE_SECRET: 'whsec_x' })
      expect(checked.code).toBe(3)
    },
  )

  test.runIf(bashIsHere)(
    'starts on HTTPS by flags on several lines, and reads no ready.json of an earlier start',
    async () => {
      const { directory, step, read, written } = await runner()
      await step('Install', { PACKAGE: 'tabwire@1.2.3' })
      await writeFile(join(directory, 'earlier'), '{"type":"ready","api_key":"twk_earlier"}\n')
      await link(join(directory, 'earlier'), join(directory, 'tabwire/ready.json'))
      expect(await step('Start', { FLAGS: '--port 0\n--https\n' })).toMatchObject({ code: 0 })
      onTestFinished(() => stopService(join(directory, 'tabwire/.tabwire/run.json')))
      const authority = join(directory, 'tabwire/.tabwire/ca/ca.pem')
      expect(await written('GITHUB_ENV')).toEqual({
        TABWIRE_URL: expect.stringMatching(/^https:/) as string,
        TABWIRE_API_KEY: expect.stringMatching(/^twk_(?!earlier)/) as string,
        TABWIRE_CACERT: authority,
        NODE_EXTRA_CA_CERTS: authority,
      })
      expect(existsSync(authority)).toBe(true)
      // Until the background process truncated it, the script could read the earlier file.
      expect(await read('earlier')).toContain('twk_earlier')
    },
  )

  test.runIf(isSoak && bashIsHere).each([
    ['a right integration', 500, 0],
    ['a finding', 999, 3],
  ] as const)('works in the steps of its recipe: with %s', async (_name, total, code) => {
    const { directory, script, step, written } = await runner()
    const jobs = parse(await readFile(join(root, recipe), 'utf8')) as { jobs: { integration: Job } }
    const { steps } = jobs.jobs.integration
    const used = steps.find(({ uses = '' }) => uses.startsWith('tabwire/tabwire@'))
    const { inputs = {}, outputs = {} } = definition()
    for (const name of Object.keys(used?.with ?? {})) expect(Object.keys(inputs)).toContain(name)
    await step('Install', { PACKAGE: inputs.package?.default ?? '' })
    expect(await step('Start', { FLAGS: used?.with?.flags ?? '' })).toMatchObject({ code: 0 })
    onTestFinished(() => stopService(join(directory, 'tabwire/.tabwire/run.json')))
    await writeFile(join(directory, 'tests.mjs'), pushing(total))
    const [results, env] = [await written('GITHUB_OUTPUT'), await written('GITHUB_ENV')]
    const codes: (number | null)[] = []
    for (const { run, env: given = {} } of steps.slice(steps.indexOf(used ?? {}) + 1)) {
      const own = Object.entries(given).map(([name, text]): [string, string] => {
        const [, output = ''] = /^\$\{\{ steps\.tabwire\.outputs\.([\w-]+) \}\}$/.exec(text) ?? []
        expect(Object.keys(outputs)).toContain(output)
        return [name, results[output] ?? '']
      })
      codes.push((await script(run ?? 'exit 99', { ...env, ...Object.fromEntries(own) })).code)
    }
    expect(codes).toEqual([0, 0, code])
  })

  test.runIf(isSoak && bashIsHere)('fails with the reason when the service does not start', async () => {
    const { step } = await runner()
    await step('Install', { PACKAGE: 'tabwire@1.2.3' })
    const { code, stdout } = await step('Start', { FLAGS: '--port nonsense' })
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/nonsense[^]*\n::error::Tabwire did not start\.\n$/) as string,
    })
  })
})

describe('workflows', () => {
  const workflow = async (path: string) => readFile(join(root, path), 'utf8')

  test('use the version of this package, by default and by name', async () => {
    const { version } = JSON.parse(await workflow('package.json')) as { version: string }
    expect(/^ {2}package:\n.*\n {4}default: (.*)$/m.exec(action)?.[1]).toBe(`tabwire@${version}`)
    expect(await workflow(recipe)).toContain(`uses: tabwire/tabwire@v${version}\n`)
  })

  test
    .runIf(bashIsHere)
    .each(['tabwire', 'tabwire@latest', 'tabwire@^1.2.3', 'tabwire@1', 'tabwire@1.2.3 evil', '--registry=x'])(
    'refuse a package without a version: %s',
    async (name) => {
      const npm = await emptyDirectory()
      await writeFile(join(npm, 'npm'), '#!/bin/sh\necho installed\n')
      await chmod(join(npm, 'npm'), 0o755)
      const file = join(npm, 'step.sh')
      await writeFile(file, scripts.Install ?? '')
      const env = {
        PATH: `${npm}${delimiter}${process.env.PATH ?? ''}`,
        PACKAGE: name,
        RUNNER_TEMP: npm,
        GITHUB_PATH: join(npm, 'path'),
      }
      const { ended } = await spawnProcess('bash', ['-eo', 'pipefail', file], { env })
      expect(await ended).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^::error::package must name a version/) as string,
      })
    },
  )

  test.each([
    '.github/workflows/ci.yml',
    '.github/workflows/release.yml',
    'fixtures/ci/github-actions.yml',
    recipe,
  ])('pin actions to commits and keep no credentials, in %s', async (path) => {
    const text = await workflow(path)
    const uses = [...text.matchAll(/uses: (.*)$/gm)].map(([, used = '']) => used)
    expect(uses).not.toEqual([])
    const own = (used: string) => used === './' || used.startsWith('tabwire/tabwire@')
    for (const used of uses.filter((one) => !own(one)))
      expect(used).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    const checkouts = text.match(/uses: actions\/checkout@[^]*?persist-credentials: false/g) ?? []
    expect(checkouts).toHaveLength(uses.filter((used) => used.startsWith('actions/checkout@')).length)
  })

  const jobsOf = async (path: string) =>
    Object.entries((parse(await workflow(path)) as { jobs: Record<string, Job> }).jobs)

  test('may write only in jobs that run no code of the repository, or only its Dockerfile', async () => {
    expect(await workflow('.github/workflows/release.yml')).toMatch(/^permissions: \{\}$/m)
    const jobs = await jobsOf('.github/workflows/release.yml')
    const writing = jobs.filter(([, { permissions = {} }]) => Object.values(permissions).includes('write'))
    expect(writing.map(([name]) => name)).toEqual(['release', 'npm', 'image', 'image-name'])
    for (const [name, { steps }] of writing) {
      const script = steps.map(({ run = '' }) => run).join('\n')
      const hasCode = steps.some(({ uses = '' }) => uses.startsWith('actions/checkout@'))
      expect([name, hasCode]).toEqual([name, name === 'image'])
      expect(script).not.toMatch(/\bnpm (?!publish\b.* --ignore-scripts )|\bnode\b|\.ci/)
    }
    expect(JSON.stringify(writing)).toContain('actions/attest-build-provenance@')
  })

  test('release nothing before all tests and all downloads have passed', async () => {
    const jobs = new Map(await jobsOf('.github/workflows/release.yml'))
    const before = (name: string): string[] => {
      const needs = jobs.get(name)?.needs
      return needs === undefined ? [] : [...before(needs), needs]
    }
    for (const name of ['release', 'npm', 'image', 'image-name'])
      expect(before(name)).toEqual(expect.arrayContaining(['test', 'pack', 'downloads']))
  })

  test('test each system on each supported line of Node.js, on every push', async () => {
    const text = parse(await workflow('.github/workflows/ci.yml')) as {
      on: Record<string, unknown>
      jobs: { test: { strategy: { matrix: Record<string, unknown> } } }
    }
    expect(Object.keys(text.on)).toEqual(['push', 'pull_request'])
    expect(text.jobs.test.strategy.matrix).toEqual({
      os: ['ubuntu-latest', 'macos-latest', 'windows-latest'],
      node: [20, 22, 24, 'latest'],
    })
  })

  test.runIf(bashIsHere)('have only scripts that bash can parse', async () => {
    for (const path of ['.github/workflows/ci.yml', '.github/workflows/release.yml'])
      for (const [job, { steps }] of await jobsOf(path))
        for (const { run = '' } of steps) {
          const { ended } = await spawnProcess('bash', ['-n'], { input: run })
          expect([job, await ended]).toMatchObject([job, { code: 0, stderr: '' }])
        }
  })
})

/** Tests of a project that push a check with such a total. */
const pushing = (total: number) => `
const { API_URL, API_KEY } = process.env
const body = { table: { number: '12' }, status: 'open', items: [{ external_id: '1', name: 'Soup', quantity: 1, price_cents: 500 }], totals: { subtotal_cents: 500, tax_cents: 0, total_cents: ${total} } }
const headers = { authorization: 'Bearer ' + API_KEY, 'content-type': 'application/json' }
const { status } = await fetch(API_URL + '/checks/external/table-12', { method: 'PUT', headers, body: JSON.stringify(body) })
process.exitCode = status === 201 ? 0 : 1
`

/** The service is detached, and removes `run.json` when it ends. */
async function stopService(file: string): Promise<void> {
  const { pid } = JSON.parse(await readFile(file, 'utf8')) as { pid: number }
  process.kill(pid)
  while (existsSync(file)) await new Promise((resolve) => setImmediate(resolve))
}

/** `name=value` in each line. */
function pairsOf(text: string): [string, string][] {
  const lines = text.trimEnd().split('\n')
  return lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
}

describe('release notes', () => {
  const changelog = `# Changelog

## [Unreleased]

## [1.1.0] - 2026-11-21

### Added

- A thing.

## 1.0.0

- The first.

[1.1.0]: https://example.com/1.1.0
`

  async function notes(...args: string[]) {
    const directory = await emptyDirectory()
    await mkdir(join(directory, '.github'))
    const script = join(directory, '.github/release-notes.mjs')
    await cp(join(root, '.github/release-notes.mjs'), script)
    await writeFile(join(directory, 'CHANGELOG.md'), changelog)
    await writeFile(join(directory, 'package.json'), '{"version":"1.1.0"}')
    const { code, stdout, stderr } = await (await spawnProcess(process.execPath, [script, ...args], {})).ended
    return { code, text: stdout + stderr }
  }

  test.concurrent.each([
    [[], 0, '### Added\n\n- A thing.\n'],
    [['v1.1.0'], 0, '### Added\n\n- A thing.\n'],
    [['1.0.0'], 0, '- The first.\n'],
    [['unreleased'], 1, 'CHANGELOG.md has no section unreleased. Sections: Unreleased, 1.1.0, 1.0.0.\n'],
    [['2.0.0'], 1, 'CHANGELOG.md has no section 2.0.0. Sections: Unreleased, 1.1.0, 1.0.0.\n'],
  ])('of %j', async (args, code, text) => expect(await notes(...args)).toEqual({ code, text }))
})
