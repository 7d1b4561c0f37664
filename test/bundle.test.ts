import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { describe, expect, test } from 'vitest'

const dist = new URL('../dist/', import.meta.url)

const textOf = (path: string) => readFileSync(new URL(path, dist), 'utf8')

/** Files that a file can load while it runs, one after the other. */
function laterOf(file: string): string[] {
  const all = [...loadedBy(file).own]
  for (const path of all)
    for (const [, name = ''] of textOf(path).matchAll(/import\((?:"|'|`)(\.[^"'`]+)(?:"|'|`)\)/g))
      for (const one of loadedBy(posix.join(path, '..', name)).own) if (!all.includes(one)) all.push(one)
  return all
}

/** Returns the static imports of a built file: own files, and packages, but no module of Node.js. */
function loadedBy(file: string): { own: string[]; packages: string[] } {
  const own = [file]
  const packages = new Set<string>()
  for (const path of own) {
    const text = readFileSync(new URL(path, dist), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:^|[;\n])(?:import|export)\b[^'"`;()]*?["']([^"']+)["']/g)) {
      const target = posix.join(path, '..', name)
      if (name.startsWith('.') && !own.includes(target)) own.push(target)
      if (!name.startsWith('.') && !name.startsWith('node:')) packages.add(name)
    }
  }
  return { own, packages: [...packages] }
}

describe('modules loaded at startup', () => {
  test.each(['cli/program.js', 'commands/start.js', 'commands/verify.js', 'commands/push.js'])(
    '%s imports no package, because dependencies are bundled',
    (file) => expect(loadedBy(file).packages).toEqual([]),
  )

  test('verify loads no module of the service', () => {
    const { own } = loadedBy('commands/verify.js')
    expect(own.length).toBeGreaterThan(5)
    expect(own.filter((path) => /simulator|listen|store|sim-routes/.test(path))).toEqual([])
  })

  test.each(['commands/start.js', 'index.js'])('%s does not load the page renderer', (file) => {
    const { own } = loadedBy(file)
    const texts = own.map((path) => readFileSync(new URL(path, dist), 'utf8'))
    expect(texts.filter((text) => text.includes('import("./renderer-'))).not.toEqual([])
    expect(own.filter((path) => path.startsWith('chunks/renderer'))).toEqual([])
    expect(texts.filter((text) => text.includes('renderToString'))).toEqual([])
  })

  test.each(['cli/program.js', 'commands/start.js', 'commands/verify.js', 'commands/push.js', 'index.js'])(
    '%s does not load the MCP server',
    (file) => {
      const { own } = loadedBy(file)
      const isMcp = (path: string) =>
        /modelcontextprotocol|deliveries_show/.test(readFileSync(new URL(path, dist), 'utf8'))
      expect(own.filter(isMcp)).toEqual([])
    },
  )

  test.each(['cli/program.js', 'commands/start.js', 'index.js'])(
    '%s does not load the PostgreSQL store or the metrics library; services import them on demand',
    (file) => {
      const { own, packages } = loadedBy(file)
      expect(packages).not.toContain('pg')
      expect(own.filter((path) => /postgres|prometheus/.test(path))).toEqual([])
      const texts = own.map((path) => readFileSync(new URL(path, dist), 'utf8'))
      expect(texts.filter((text) => /prom-client|collectDefaultMetrics|PGPASSFILE/.test(text))).toEqual([])
      const later = laterOf(file).join(' ')
      for (const name of ['postgres-store', 'prometheus'])
        expect([name, later.includes(`/${name}-`)]).toEqual([name, file !== 'cli/program.js'])
    },
  )

  test.each(['commands/start.js', 'index.js'])(
    '%s loads the routes of the simulator and the guest page at their first request',
    (file) => {
      const early = loadedBy(file).own
      const late = laterOf(file).filter((path) => !early.includes(path))
      for (const operation of ['createInspectorLink', 'claimAtTable']) {
        expect(early.filter((path) => textOf(path).includes(operation))).toEqual([])
        expect(late.filter((path) => textOf(path).includes(operation))).toHaveLength(1)
      }
    },
  )

  test('the mcp command and the first MCP request import the MCP server, without a JSON Schema validator', () => {
    const [command, simulator] = ['commands/mcp.js', 'commands/start.js'].map((file) =>
      loadedBy(file).own.map((path) => readFileSync(new URL(path, dist), 'utf8')),
    )
    expect(command?.some((text) => /import\("[^"]*\/stdio-[^"]*"\)/.test(text))).toBe(true)
    expect(simulator?.some((text) => /import\("[^"]*\/at-service-[^"]*"\)/.test(text))).toBe(true)
    const withText = (text: string) =>
      readdirSync(new URL('chunks/', dist)).filter((name) =>
        readFileSync(new URL(`chunks/${name}`, dist), 'utf8').includes(text),
      )
    expect(withText('modelcontextprotocol/protocolVersion')).toHaveLength(1)
    expect(withText('no schema with key or ref')).toEqual([])
  })

  test.each(['index.js', 'client.js'])('%s loads no module of the command line', (file) => {
    const { own } = loadedBy(file)
    expect(own.filter((path) => /oclif|src\/cli\//.test(textOf(path)))).toEqual([])
  })

  test('no CommonJS module of the command framework is parsed twice', () => {
    const framework = loadedBy('cli/program.js').own.map(textOf).join('\n')
    expect(framework.match(/=\w+\(\(function\(/g)?.length).toBeGreaterThan(50)
    expect(framework.match(/=\w+\(\((?:\w+|\([\w,]*\))=>\{/g)).toBeNull()
  })

  test('the library loads the listener at once, so that its first simulator does not wait for it', () => {
    expect(loadedBy('index.js').own.filter((path) => path.startsWith('chunks/listen'))).toHaveLength(1)
  })
})

test('a bundler keeps an import of tabwire/vitest, which registers the matchers', async () => {
  const bundle = await rolldown({
    input: 'test.js',
    external: /^vitest$|chunks\//,
    plugins: [
      {
        name: 'a test that imports nothing by name',
        resolveId: (id) => (id === 'test.js' ? id : null),
        load: (id) =>
          id === 'test.js'
            ? `import ${JSON.stringify(fileURLToPath(new URL('vitest/index.js', dist)))}`
            : null,
      },
    ],
  })
  const { output } = await bundle.generate()
  expect(output[0].code).toContain('expect.extend(')
})

test('the licences of bundled packages are included', () => {
  const licences = readFileSync(new URL('chunks/LICENSES.txt', dist), 'utf8')
  for (const name of [
    '@oclif/core',
    'h3',
    'listhen',
    'srvx',
    'zod',
    '@modelcontextprotocol/server',
    'ejs',
    'get-port-please',
  ])
    expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\. Copyright|^${name} \\d`, 'm'))
  expect(licences).toContain('Permission is hereby granted, free of charge')
  expect(licences).toContain('Apache License Version 2.0')
  expect(licences).toContain('Copyright 2015 Simon Nyberg')
  const lines = licences.split('\n').filter((line) => /^\S+ \d+\.\d+\.\d+/.test(line))
  expect(lines).toEqual([...new Set(lines)])
})

test.each([
  ['guest', 'preact'],
  ['inspector', 'preact'],
  ['inspector', 'uplot'],
])('the page %s has the licence of its bundled package %s in a file next to it', (page, name) => {
  const licences = readFileSync(new URL(`pages/assets/${page}.js.LICENSE.txt`, dist), 'utf8')
  expect(licences).toContain(name)
})
