import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { emptyDirectory, fixtures, spawnProcess } from './support/cli.ts'
import { isSoak } from './soak/seeded.ts'
import { root } from './support/packed.ts'
import { isInstalled } from './support/programs.ts'

const bashIsHere = isInstalled('bash')

/** A recipe: its file, its heading in the CI guide, and the shell lines of each job. */
interface Recipe {
  file: string
  heading: string
  jobs: (text: string) => string[][]
}

interface Step {
  run?: string
  script?: string
  pwsh?: string
}

/** Steps in PowerShell install as the others do: `install.ps1` does not run here. */
const linesOf = (steps: Step[]) =>
  steps.flatMap(
    ({ run, script, pwsh }) => run ?? script ?? (pwsh?.includes('install.ps1') === true ? 'curl | sh' : []),
  )

const recipes: Recipe[] = [
  {
    file: 'gitlab-ci.yml',
    heading: 'GitLab CI',
    jobs: (text) =>
      Object.values(parse(text) as Record<string, { script: string[] }>).map(({ script }) => script),
  },
  {
    file: 'azure-pipelines.yml',
    heading: 'Azure Pipelines',
    jobs: (text) => (parse(text) as { jobs: { steps: Step[] }[] }).jobs.map(({ steps }) => linesOf(steps)),
  },
  {
    file: 'circleci.yml',
    heading: 'CircleCI',
    jobs: (text) =>
      Object.values((parse(text) as { jobs: Record<string, { steps: Step[] }> }).jobs).map(({ steps }) =>
        linesOf(steps),
      ),
  },
  {
    file: 'Jenkinsfile',
    heading: 'Jenkins',
    jobs: (text) =>
      text
        .split(/\bsteps \{/)
        .slice(1)
        .map((steps) => [...steps.matchAll(/^\s+sh '(.*)'$/gm)].map(([, line = '']) => line)),
  },
]

const readRecipe = (file: string) => readFile(join(fixtures, 'ci', file), 'utf8')

/**
 * A job's machine: `npm ci` has installed this package, the tests of the project push a check, and `curl` returns an install
 * script that installs this program. `tests` is the script of the project's tests.
 */
async function machine(tests: string) {
  const [cwd, bin, home] = [await emptyDirectory(), await emptyDirectory(), await emptyDirectory()]
  const program = `exec "${process.execPath}" "${join(root, 'bin/run.js')}" "$@"`
  const commands = {
    npm: `[ "$1" = ci ] && exit 0\n${tests}`,
    npx: `[ "$1" = tabwire ] || exit 99\nshift\n${program}`,
    mvn: tests,
    dotnet: tests,
    curl: `cat "${join(bin, 'install')}"`,
    install: `to="\${TABWIRE_INSTALL_DIR:-$HOME/.local/bin}"\nmkdir -p "$to"\ncp "${join(bin, 'tabwire-installed')}" "$to/tabwire"\n`,
    'tabwire-installed': program,
  }
  for (const [name, text] of Object.entries(commands)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(bin, name), 0o755)
  }
  await mkdir(join(cwd, 'node_modules'))
  await symlink(root, join(cwd, 'node_modules', 'tabwire'), 'dir')
  const env = {
    HOME: home,
    PATH: [bin, join(home, '.local/bin'), process.env.PATH ?? ''].join(delimiter),
    BASH_ENV: join(home, 'bash-env'),
    TABWIRE_INSTALL_DIR: '',
  }
  await writeFile(env.BASH_ENV, '')
  return {
    cwd,
    /** Runs the lines as a runner does: one script that ends at the first error. */
    run: async (lines: readonly string[], more: Record<string, string> = {}) => {
      const script = lines.join('\n')
      const options = { cwd, env: { ...env, ...more } }
      return (await spawnProcess('bash', ['-e', '-o', 'pipefail', '-c', script], options)).ended
    },
  }
}

/** Pushes a check; with these totals, the report has a finding. */
const push = (total: number) => `
node -e '
const { TABWIRE_BASE_URL, TABWIRE_API_KEY } = process.env
const body = { table: { number: "12" }, status: "open", items: [{ external_id: "1", name: "Soup", quantity: 1, price_cents: 500 }], totals: { subtotal_cents: 500, tax_cents: 0, total_cents: ${total} } }
fetch(TABWIRE_BASE_URL + "/checks/external/table-12", { method: "PUT", headers: { authorization: "Bearer " + TABWIRE_API_KEY, "content-type": "application/json" }, body: JSON.stringify(body) }).then(({ status }) => process.exit(status === 201 ? 0 : 1))
'`

/** Running one takes three seconds of a processor, so only the soak runs all. */
const usual = new Set(['gitlab-ci.yml'])

describe.each(recipes)('the recipe $file', ({ file, heading, jobs }) => {
  test('is printed in the CI guide', async () => {
    const guide = await readFile(join(root, 'src/guides/ci.md'), 'utf8')
    const section = guide.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
    const [, block = ''] = /^```\w*\n([^]*?)^```$/m.exec(section) ?? []
    expect(block).toBe(await readRecipe(file))
  })

  test.runIf(bashIsHere && (isSoak || usual.has(file)))(
    'passes with a correct integration, fails with a finding, and writes a report in both cases',
    async () => {
      const found = jobs(await readRecipe(file))
      expect(found.length).toBeGreaterThan(1)
      // The soak runs the other jobs of the recipe, too.
      for (const lines of isSoak ? found : found.slice(0, 1)) {
        const report = /--junit (\S+)/.exec(lines.join('\n'))?.[1] ?? 'none'
        const workspace = (cwd: string): Record<string, string> =>
          lines.some((line) => line.includes('.bin/tabwire'))
            ? { TABWIRE_INSTALL_DIR: join(cwd, '.bin') }
            : {}
        const right = await machine(push(500))
        const passed = await right.run(lines, workspace(right.cwd))
        expect([passed.stderr, passed.code]).toEqual([expect.any(String), 0])
        expect(await readFile(join(right.cwd, report), 'utf8')).toContain('failures="0"')
        const wrong = await machine(push(999))
        expect(await wrong.run(lines, workspace(wrong.cwd))).toMatchObject({ code: 3 })
        expect(await readFile(join(wrong.cwd, report), 'utf8')).toContain('totals_mismatch')
      }
    },
  )
})
