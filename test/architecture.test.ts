import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../src/', import.meta.url))

interface SourceFile {
  /** `http/app.ts` */
  path: string
  text: string
  /** Paths of own modules that it imports, types included. */
  own: string[]
  /** Packages and `node:` modules. */
  foreign: string[]
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => read(path.split(sep).join('/')))

/** Imports that each folder may have beside its own; src/README.md lists them. `*` is any `node:` module. */
const folders: Record<string, { own: string[]; foreign: string[] }> = {
  signature: { own: [], foreign: ['node:crypto'] },
  model: { own: [], foreign: ['zod'] },
  operations: { own: ['model'], foreign: [] },
  store: {
    own: ['model', 'process-identity.ts', 'replace-file.ts', 'timers.ts'],
    foreign: ['lowdb', 'sorted-btree', 'pg', 'node:*'],
  },
  'service.ts': { own: ['model', 'operations', 'store', 'clock.ts'], foreign: [] },
  'timers.ts': { own: [], foreign: ['node:perf_hooks', 'node:timers'] },
  'clock.ts': { own: ['timers.ts'], foreign: [] },
  'ids.ts': { own: ['operations'], foreign: ['ulid', 'node:crypto'] },
  'process-identity.ts': { own: [], foreign: ['node:*'] },
  'package-file.ts': { own: ['model'], foreign: ['node:*'] },
  certificates: {
    own: ['private-file.ts', 'replace-file.ts', 'timers.ts'],
    foreign: ['@peculiar/x509', 'ipaddr.js', 'reflect-metadata', 'node:*'],
  },
  'private-file.ts': { own: ['ids.ts', 'replace-file.ts'], foreign: ['node:*'] },
  'replace-file.ts': { own: ['timers.ts'], foreign: ['node:*'] },
  'data-directory.ts': { own: ['model', 'private-file.ts', 'replace-file.ts'], foreign: ['node:*'] },
  delivery: {
    own: [
      'model',
      'operations',
      'private-file.ts',
      'replace-file.ts',
      'signature',
      'service.ts',
      'clock.ts',
      'timers.ts',
      'certificates',
    ],
    foreign: ['undici', 'ipaddr.js', 'node:*'],
  },
  findings: { own: ['model'], foreign: [] },
  account: { own: ['model'], foreign: [] },
  'table-address.ts': { own: [], foreign: ['node:crypto', 'node:os'] },
  conformance: {
    own: ['ids.ts', 'model', 'package-file.ts', 'signature', 'certificates'],
    foreign: ['ipaddr.js', 'fast-check', 'fast-xml-builder', 'undici', 'zod', 'node:*'],
  },
  http: {
    own: [
      'model',
      'operations',
      'findings',
      'account',
      'package-file.ts',
      'service.ts',
      'signature',
      'table-address.ts',
      'timers.ts',
    ],
    // zod writes the schemas of the OpenAPI document.
    foreign: ['h3', 'listhen', 'prom-client', 'rate-limiter-flexible', 'srvx', 'uqr', 'zod', 'node:*'],
  },
  // The imports of its browser folder are bundled into the pages.
  pages: {
    own: ['model', 'package-file.ts'],
    foreign: [
      'marked',
      'preact',
      'preact-render-to-string',
      '@preact/signals',
      '@tanstack/virtual-core',
      'uplot',
      'node:*',
    ],
  },
  'client.ts': { own: ['client', 'guests', 'model', 'assertions'], foreign: [] },
  guests: { own: ['client', 'model', 'assertions', 'timers.ts'], foreign: [] },
  client: { own: ['model'], foreign: ['eventsource-parser', 'undici'] },
  assertions: {
    own: ['client', 'client.ts', 'ids.ts', 'model', 'timers.ts'],
    foreign: ['node:*'],
  },
  'simulator-options.ts': { own: ['clock.ts', 'http', 'model'], foreign: [] },
  'simulator.ts': {
    own: ['*'],
    foreign: ['node:*'],
  },
  // Parts of the one wiring place, for it alone.
  simulator: {
    own: [
      'certificates',
      'clock.ts',
      'data-directory.ts',
      'delivery',
      'operations',
      'package-file.ts',
      'http',
      'ids.ts',
      'model',
      'service.ts',
      'simulator-options.ts',
      'store',
      'timers.ts',
    ],
    foreign: ['node:*'],
  },
  'library.ts': { own: ['client', 'client.ts', 'http', 'model', 'simulator.ts', 'assertions'], foreign: [] },
  'index.ts': {
    own: ['client', 'client.ts', 'clock.ts', 'library.ts', 'simulator.ts', 'assertions'],
    foreign: [],
  },
  vitest: {
    own: ['client.ts', 'library.ts', 'model', 'signature', 'simulator.ts', 'timers.ts', 'assertions'],
    foreign: ['vitest'],
  },
  msw: { own: ['library.ts', 'model'], foreign: ['msw'] },
  // Tools answer in the words of commands.
  mcp: {
    own: ['assertions', 'cli', 'client', 'client.ts', 'conformance', 'package-file.ts', 'model', 'timers.ts'],
    foreign: ['@modelcontextprotocol/server', 'zod', 'node:*'],
  },
  cli: {
    own: [
      'replace-file.ts',
      'client',
      'client.ts',
      'conformance',
      'data-directory.ts',
      'package-file.ts',
      'ids.ts',
      'model',
      'private-file.ts',
      'process-identity.ts',
      'signature',
      'simulator-options.ts',
      'certificates',
      'assertions',
    ],
    foreign: [
      '@oclif/core',
      'chalk',
      'ora',
      'chokidar',
      'cross-spawn',
      'fast-check',
      'fast-string-width',
      'fast-wrap-ansi',
      'marked',
      'tinyglobby',
      'undici',
      'uqr',
      'zod',
      'node:*',
    ],
  },
  commands: {
    own: [
      'replace-file.ts',
      'client',
      'cli',
      'client.ts',
      'certificates',
      'conformance',
      'package-file.ts',
      'mcp',
      'model',
      'private-file.ts',
      'signature',
      'assertions',
    ],
    foreign: ['@oclif/core', 'node:*'],
  },
}

/** Further imports of single files, which run a service, describe it or repair its data. */
const exceptions: Record<string, string[]> = {
  // Reads responses as the service does.
  'cli/listen/forward.ts': ['delivery'],
  'commands/start.ts': ['simulator.ts', 'data-directory.ts'],
  'commands/demo.ts': ['simulator.ts'],
  'commands/exec.ts': ['simulator.ts', 'data-directory.ts'],
  'commands/push.ts': ['simulator.ts'],
  'commands/replay.ts': ['simulator.ts'],
  'commands/contract/check.ts': ['simulator.ts'],
  'commands/scenario/explore.ts': ['simulator.ts'],
  'commands/doctor.ts': ['delivery', 'http', 'store'],
  'commands/openapi.ts': ['http'],
}

describe('the source tree', () => {
  it('has a rule for every folder', () => {
    expect([...new Set(files.map(({ path }) => folderOf(path)))].sort()).toEqual(Object.keys(folders).sort())
  })

  it.each(files)('$path imports only what its folder may import', ({ path, own, foreign }) => {
    const folder = folderOf(path)
    const rule = folders[folder]
    const allowed = [folder, ...(rule?.own ?? []), ...(exceptions[path] ?? [])]
    const strangers = own.filter((target) => !allowed.includes(folderOf(target)))
    expect(
      allowed.includes('*') ? strangers.filter((target) => folderOf(target) === 'commands') : strangers,
    ).toEqual([])
    expect(foreign.filter((name) => !mayImport(rule?.foreign ?? [], name))).toEqual([])
  })

  it('imports services only as types, except in the wiring', () => {
    const importers = files.filter(
      ({ path, text }) => path !== 'simulator.ts' && importsOf(text).some(takesTheService),
    )
    expect(importers.map(({ path }) => path)).toEqual([])
  })

  it('has no cycles, types included', () => {
    expect(cycles()).toEqual([])
  })

  it('has no folder or file named utils, helpers, common or misc', () => {
    expect(files.filter(({ path }) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.)/.test(path))).toEqual([])
  })

  it.each([
    [
      'the real time',
      /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\btimers\.(now|elapsed)\b/,
      [
        'timers.ts',
        'clock.ts',
        'simulator.ts',
        'simulator/',
        'commands/',
        'cli/',
        'delivery/backlog.ts',
        'delivery/send/send.ts',
        'delivery/pump.ts',
        'delivery/in-flight.ts',
        'http/auth/api-key.ts',
        'http/request-context.ts',
        'mcp/tools/signatures.ts',
        'pages/browser/',
        'signature/diagnose/',
        'signature/options.ts',
        'signature/verification.ts',
        'vitest/matchers.ts',
        'certificates/issue.ts',
        'conformance/',
        'store/',
      ],
    ],
    // All else keeps the real timers when a test replaces the globals.
    [
      'the global timers',
      /(?<![.\w])((set|clear)(Timeout|Interval|Immediate)|queueMicrotask)\(|\bprocess\.nextTick\(|'node:timers/,
      ['timers.ts', 'cli/', 'commands/', 'conformance/', 'pages/browser/'],
    ],
    // A receiver compares signatures with the time of its own process, which a test may have replaced.
    [
      'the global Date',
      /\bDate\.now\(|\bnew Date\(\)|(?<![.\w])performance\.now\(/,
      [
        'timers.ts',
        'clock.ts',
        'mcp/tools/signatures.ts',
        'signature/',
        'cli/',
        'commands/',
        'conformance/',
        'pages/browser/',
      ],
    ],
    [
      'randomness',
      /\bMath\.random\(|\brandomBytes\(|\brandomUUID\(|\bgetRandomValues\(/,
      ['certificates/issue.ts', 'conformance/contract/receiver.ts', 'ids.ts', 'store/', 'pages/browser/'],
    ],
    // A profile names the variables that hold its keys; where a user's state is kept, the system says by variables. The
    // container image says by a variable that it is one. Node names a file of further authorities by a variable. Shells of
    // MSYS name themselves.
    [
      'the environment',
      /\bprocess\.env\b/,
      [
        'cli/base-command.ts',
        'cli/conformance/profile.ts',
        'cli/doctor/environment.ts',
        'cli/exec.ts',
        'cli/pager.ts',
        'cli/suggestion.ts',
        'cli/trust/installation.ts',
        'certificates/trusted.ts',
      ],
    ],
    [
      'the console and the streams',
      /\bconsole\.|\bprocess\.(stdout|stderr)\b|from 'node:process'/,
      // Every command that reads standard input at a terminal says so, in one place; help has no command.
      ['cli/base-command.ts', 'cli/files/input.ts', 'cli/help.ts'],
    ],
  ])('reads %s only where it may', (_what, pattern, allowed) => {
    const readers = files.filter(({ text }) => pattern.test(withoutComments(text))).map(({ path }) => path)
    expect(readers.filter((path) => !allowed.some((prefix) => path.startsWith(prefix)))).toEqual([])
  })

  it.each([
    ['chalk', ['cli/render/', 'cli/base-command.ts']],
    ['ora', ['cli/base-command.ts']],
  ])('imports %s only for terminal output', (name, allowed) => {
    const importers = files.filter(({ foreign }) => foreign.includes(name)).map(({ path }) => path)
    expect(importers.filter((path) => !allowed.some((prefix) => path.startsWith(prefix)))).toEqual([])
  })

  it('keeps operations free of real time, randomness and asynchronous code', () => {
    const impure = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bawait\b|\basync\b/
    const inside = files.filter(({ path }) => /^(operations|model|findings|account)\//.test(path))
    expect(inside.filter(({ text }) => impure.test(withoutComments(text))).map(({ path }) => path)).toEqual(
      [],
    )
  })
})

function read(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const specifiers = importsOf(text).map((statement) => /'([^']+)'/.exec(statement)?.[1] ?? '')
  const own = specifiers.filter((name) => name.startsWith('.'))
  return {
    path,
    text,
    own: own.map((name) =>
      relative(root, join(root, dirname(path), name))
        .split(sep)
        .join('/'),
    ),
    foreign: specifiers.filter((name) => !name.startsWith('.')),
  }
}

/** Import and re-export statements, and dynamic imports. */
function importsOf(text: string): string[] {
  return text.match(/^(?:import|export)\b[^'"`;]*?\bfrom '[^']+'|^import '[^']+'|\bimport\('[^']+'\)/gm) ?? []
}

function takesTheService(statement: string): boolean {
  return statement.endsWith("/service.ts'") && !/^import type|\{ type \w+ \}/.test(statement)
}

function folderOf(path: string): string {
  return path.split('/', 1)[0] ?? path
}

function mayImport(allowed: readonly string[], name: string): boolean {
  // Newer lines of Node also list modules that have the prefix only.
  if (!name.startsWith('node:') && builtinModules.includes(name)) return false
  return allowed.some((entry) =>
    entry === 'node:*' ? name.startsWith('node:') : name === entry || name.startsWith(`${entry}/`),
  )
}

const token =
  /\/\*[^]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|[^]/y
const templateText = /(?:[^`$\\]|\\[^]|\$(?!\{))*(`|\$\{)/y

/** The code without comments and the text of templates, which speak of what they do not do. */
function withoutComments(text: string): string {
  /** Open braces in each substitution of a template. */
  const open: number[] = []
  let code = ''
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    at = pattern.lastIndex
    return found
  }
  const skipText = () => {
    if (take(templateText)?.[1] === '${') open.push(0)
  }
  while (at < text.length) {
    const [one = ''] = take(token) ?? []
    const depth = open.at(-1)
    if (one === '`') skipText()
    else if (one === '}' && depth === 0) {
      open.pop()
      skipText()
    } else if (!/^\/[/*]/.test(one)) code += one
    if (depth !== undefined && one === '{') open[open.length - 1] = depth + 1
    if (depth !== undefined && one === '}' && depth > 0) open[open.length - 1] = depth - 1
  }
  return code
}

function cycles(): string[][] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const found: string[][] = []
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) return void found.push([...trail.slice(trail.indexOf(path)), path])
    if (done.has(path)) return
    for (const target of byPath.get(path)?.own ?? []) walk(target, [...trail, path])
    done.add(path)
  }
  for (const { path } of files) walk(path, [])
  return found
}
