/** One row of the matrix: the runtime of the packed file, and its programs. */
export interface Row {
  /** `vitest` */
  what: string
  /** The range or tag of npm that is installed. */
  range: string
  /** How the package is loaded. */
  loaded: string
  /** Short description of the checks. */
  checks: string
  /** The npm package whose version is printed; `node` for Node.js itself. */
  versionOf: string
  /** Packages that are installed beside the packed file, with their ranges. */
  packages: readonly string[]
  /** Files of this folder, and how they are called in the project. */
  files: Readonly<Record<string, string>>
  /** Programs that must end with 0. One that begins with `node` runs on the Node of the row. */
  commands: readonly (readonly [string, ...string[]])[]
  /** The Node.js that runs them; by default the one that runs the tests. */
  node?: string
}

/** Newer packages require more than our oldest Node.js. */
const NEWER = '24'

const compile = (...flags: string[]) =>
  ['node', 'node_modules/typescript/bin/tsc', '--strict', '--noEmitOnError', ...flags] as const
const strictModules = [
  '--module',
  'nodenext',
  '--target',
  'es2022',
  '--lib',
  'es2023,esnext.disposable',
  '--types',
  'node',
]

const vitest = (range: string, node?: string): Row => ({
  what: 'Vitest',
  range,
  loaded: 'import',
  checks: 'fixtures, matchers, fake timers, types',
  versionOf: 'vitest',
  packages: [`vitest@${range}`, 'typescript@~6.0', '@types/node@^22'],
  files: { 'vitest.ts': 'matrix.test.ts' },
  commands: [
    ['node', 'node_modules/vitest/vitest.mjs', 'run', '--root', '.'],
    compile(...strictModules, '--noEmit', '--skipLibCheck', 'matrix.test.ts'),
  ],
  ...(node !== undefined && { node }),
})

const msw = (range: string, node?: string): Row => ({
  what: 'msw',
  range,
  loaded: 'import',
  checks: 'handlers, types',
  versionOf: 'msw',
  packages: [`msw@${range}`, 'typescript@~6.0', '@types/node@^22'],
  files: { 'msw.ts': 'msw.mts' },
  commands: [compile(...strictModules, '--skipLibCheck', 'msw.mts'), ['node', 'msw.mjs']],
  ...(node !== undefined && { node }),
})

const jest = (range: string): Row[] => [
  {
    what: 'Jest',
    range,
    loaded: 'require',
    checks: 'signature, signature/web',
    versionOf: 'jest',
    packages: [`jest@${range}`],
    files: { 'jest-required.cjs': 'required.test.cjs' },
    commands: [['node', 'node_modules/jest/bin/jest.js', '--testMatch', '**/*.test.cjs']],
  },
  {
    what: 'Jest',
    range,
    loaded: 'import, `--experimental-vm-modules`',
    checks: 'simulator, fake timers',
    versionOf: 'jest',
    packages: [`jest@${range}`],
    files: { 'jest-modules.mjs': 'modules.test.mjs' },
    commands: [
      ['node', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--testMatch', '**/*.test.mjs'],
    ],
  },
]

const node = (range: string): Row => ({
  what: 'Node.js and node:test',
  range,
  loaded: 'import, require',
  checks: 'simulator, signature, signature/web',
  versionOf: 'node',
  packages: [],
  files: { 'simulator.mjs': 'simulator.mjs', 'required.cjs': 'required.test.cjs' },
  commands: [
    ['node', 'simulator.mjs'],
    ['node', '--test', 'required.test.cjs'],
  ],
  node: range,
})

const typescript = (range: string): Row => ({
  what: 'TypeScript',
  range,
  loaded: 'node16 (CommonJS), nodenext, bundler',
  checks: 'types, without `skipLibCheck`',
  versionOf: 'typescript',
  packages: [`typescript@${range}`, '@types/node@^20'],
  files: { 'types.ts': 'types.mts', 'types-required.cts.txt': 'types.cts' },
  commands: [
    compile(...strictModules, '--noEmit', 'types.mts'),
    compile('--module', 'node16', '--target', 'es2022', '--types', 'node', '--noEmit', 'types.cts'),
    compile(
      ...['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022'],
      ...['--lib', 'es2023,esnext.disposable', '--types', 'node', '--noEmit', 'types.mts'],
    ),
  ],
})

const simulatorOn = (what: string, name: string, command: readonly [string, ...string[]]): Row => ({
  what,
  range: 'latest',
  loaded: 'import',
  checks: 'simulator, signature, signature/web',
  versionOf: name,
  packages: [`${name}@latest`],
  files: { 'simulator.mjs': 'simulator.mjs' },
  commands: [command],
})

export const rows: readonly Row[] = [
  vitest('3.2.0'),
  vitest('^3.2.0'),
  vitest('^4.0.0'),
  vitest('^5.0.0', NEWER),
  msw('2.10.0'),
  msw('^2.10.0'),
  msw('^3.0.0', NEWER),
  ...jest('^29.0.0'),
  ...jest('^30.0.0'),
  node('20.19.0'),
  node('22'),
  node('24'),
  node('latest'),
  ...['~5.4.0', '~5.9.0', '~6.0.0', '~7.0.0'].map(typescript),
  simulatorOn('Deno', 'deno', ['node_modules/.bin/deno', 'run', '--allow-all', 'simulator.mjs']),
  simulatorOn('Bun', 'bun', ['node_modules/.bin/bun', 'simulator.mjs']),
  {
    what: 'workerd',
    range: 'latest',
    loaded: 'import',
    checks: 'signature/web',
    versionOf: 'workerd',
    packages: ['miniflare@latest'],
    files: { 'workerd.mjs': 'workerd.mjs' },
    commands: [['node', 'workerd.mjs']],
    node: NEWER,
  },
]

/** As a table of Markdown, aligned as the formatter writes it. */
export function tableOf(heading: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = heading.map((name, at) =>
    Math.max(name.length, ...lines.map((line) => line[at]?.length ?? 0)),
  )
  const write = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |\n`
  return write(heading) + write(widths.map((width) => '-'.repeat(width))) + lines.map(write).join('')
}

/** Returns the table of the tests' README. Exact versions are those of a run, which prints them. */
export function matrixTable(): string {
  return tableOf(
    ['runs on', 'version', 'on Node.js', 'loaded by', 'checked'],
    rows.map((row) => [row.what, row.range, row.node ?? 'any', row.loaded, row.checks]),
  )
}
