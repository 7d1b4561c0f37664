import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { minifySync } from 'rolldown/utils'

/*
 * Packages to bundle, with all their imports: those that every command or every start loads, because opening their many
 * files takes longer than running them; and those that would be most of an install.
 */
const builtIn = [
  '@modelcontextprotocol/core',
  '@modelcontextprotocol/server',
  '@peculiar/x509',
  '@oclif/core',
  'chalk',
  'cross-spawn',
  'eventsource-parser',
  'fast-string-width',
  'fast-wrap-ansi',
  'fast-xml-builder',
  'h3',
  'ipaddr.js',
  'listhen',
  'lowdb',
  'marked',
  'preact',
  'preact-render-to-string',
  'prom-client',
  'reflect-metadata',
  'srvx',
  'tinyglobby',
  'ulid',
  'zod',
]

/**
 * Imports of bundled packages for features that we do not use. listhen: certificates, WebSockets, tunnels, QR codes,
 * clipboards, browsers, prompts, log lines (which load the data of a text segmenter, 8 to 18 ms of a start). oclif: commands
 * without a manifest, plugins, colours beyond sixteen, the name of the shell (which takes a PowerShell per command on
 * Windows). prom-client: exemplars, summaries, clusters, the push gateway.
 */
const neverAsked =
  /^(node-forge|consola|consola\/utils|wsl-utils|crossws\/.*|untun|tinyclip|uqr|semver|minimatch|tinyglobby|lilconfig|color-convert|@opentelemetry\/api)$|^\.+\/chunks\/(prompt|xdg-open)\.mjs$|^\.\/lib\/(cluster|pushgateway|summary)$/

/** Optional compilers and file watchers, which packages look for and do not find. */
const notInstalled = /^(typescript|ts-node|@parcel\/watcher.*|jiti)$/

/** The sender of deliveries. It needs one class of undici, which is bundled so that it uses real timers. */
const SENDER = /[\\/]delivery[\\/]send[\\/]connections\.ts$/

const CLIENT = '\0undici-client'

export const clientOfUndici = {
  name: 'client-of-undici',
  resolveId: {
    filter: { id: /^undici$/ },
    handler: (_id, importer = '') => (SENDER.test(importer) ? CLIENT : null),
  },
  load: {
    filter: { id: /^\0undici-client$/ },
    handler: () => `export { default as Client } from ${JSON.stringify(client)}`,
  },
  /** Fails when the sender has moved: undici would silently be loaded as a whole. */
  buildEnd() {
    const built = [...this.getModuleIds()]
    if (built.some((id) => /[\\/]delivery[\\/]deliver\.ts$/.test(id)) && !built.includes(CLIENT))
      throw new Error('No module was found that imports the client of undici: see SENDER.')
  },
}

const client = fileURLToPath(new URL('../../node_modules/undici/lib/dispatcher/client.js', import.meta.url))

const NOTHING = '\0nothing'

/** The MCP SDK's own imports for its system. Its JSON Schema validator, 300 kB, is for features that we do not use. */
const SHIMS = '\0mcp-shims'

export const withoutSchemaValidator = {
  name: 'without-schema-validator',
  resolveId: {
    filter: { id: /^@modelcontextprotocol\/server\/_shims$/ },
    handler: () => SHIMS,
  },
  load: {
    filter: { id: /^\0mcp-shims$/ },
    handler: () =>
      "export { default as process } from 'node:process'\nexport class DefaultJsonSchemaValidator {}",
  },
}

/** Returns true when an import stays an import: of Node, or of a separately installed package. */
export function isExternal(id, importer = '') {
  if (id === 'undici' && SENDER.test(importer)) return false
  if (/^[./\0]|^[A-Z]:/.test(id)) return false
  if (id.startsWith('node:') || notInstalled.test(id)) return true
  return !isPackaged(importer) && !builtIn.some((name) => id === name || id.startsWith(`${name}/`))
}

export function isPackaged(id) {
  return /[\\/]node_modules[\\/]|^\0/.test(id)
}

export const withoutNeverAsked = {
  name: 'without-never-asked',
  resolveId: {
    filter: { id: neverAsked },
    handler: (_id, importer = '') => (isPackaged(importer) ? NOTHING : null),
  },
  load: { filter: { id: /^\0nothing$/ }, handler: () => 'module.exports = {}' },
}

/**
 * Code that keeps functions of uPlot in the inspector's script, which does not use them: 3 kB compressed. The inspector
 * draws no curves and no steps, and writes the times of its axes itself.
 */
const unusedPlots = [
  // Formats numbers of other axes. A language that is no tag, such as "C", would throw here and leave the page empty.
  [/domEnv \? nav\.language : 'en-US'/, "'en-US'"],
  [/^\tuPlot\.join = join;$/m, ''],
  [/^\t\(paths\.stepped = stepped\);$/m, ''],
  [/^\t\(paths\.spline +?= monotoneCubic\);$/m, ''],
  [/^\tuPlot\.fmtDate = fmtDate;\n\tuPlot\.tzDate +?= tzDate;$/m, ''],
  [/^\t\t_timeAxisStamps,\n\t\ttimeAxisSplits,$/m, ''],
  [/^const \[ timeIncrsMs, .*?\] = genTimeStuffs\(1\);$/m, 'const [timeIncrsMs] = genTimeStuffs(1)'],
  [/^const \[ timeIncrsS, .*?\] = genTimeStuffs\(1e-3\);$/m, 'const [timeIncrsS] = genTimeStuffs(1e-3)'],
  [/^\tconst _tzDate +?= .*\n\tconst _fmtDate += .*$/m, ''],
  [/^\tconst _timeAxisSplits = .*\n\tconst _timeAxisVals .*\n\tconst _timeSeriesVal .*$/m, ''],
  [/isTime && sc\.distr == 1 \? _timeAxisSplits : /, ''],
  [/isTime \? \(isStr\(sv\) .*? _timeSeriesVal\) : /, ''],
  [/\/\/ temporal\n[^;]*?_timeAxisVals\s+\) : /, ''],
]

export const withoutUnusedPlots = {
  name: 'without-unused-plots',
  transform: {
    filter: { id: /[\\/]uplot[\\/]dist[\\/]uPlot\.esm\.js$/ },
    handler(code) {
      for (const [unused, used] of unusedPlots) {
        if (!unused.test(code)) throw new Error(`uPlot has changed: ${unused} is not in it.`)
        code = code.replace(unused, used)
      }
      return { code, map: null }
    },
  },
}

/**
 * Work of oclif before every command that is not needed. `localeCompare` loads the data of a collator, which takes 10 ms;
 * the ids that it sorts are ASCII, so the order stays. `userInfo` throws for a user who is not in the list of users, such
 * as a container's `--user 4321`; the name of the shell is not used.
 */
const unwanted = [
  [
    'config/plugin.js',
    '.sort((a, b) => a.id.localeCompare(b.id))',
    '.sort((a, b) => (a.id < b.id ? -1 : 1))',
  ],
  ['util/os.js', ' ?? (0, node_os_1.userInfo)().shell?.split(node_path_1.default.sep)?.pop();', ';'],
]

export const patchOclif = {
  name: 'patch-oclif',
  transform: {
    filter: { id: /[\\/]@oclif[\\/]core[\\/]lib[\\/](config[\\/]plugin|util[\\/]os)\.js$/ },
    handler(code, id) {
      const path = id.replaceAll('\\', '/')
      for (const [file, before, after] of unwanted) {
        if (!path.endsWith(file)) continue
        if (!code.includes(before)) throw new Error(`oclif has changed: ${before} is not in it.`)
        code = code.replace(before, after)
      }
      return { code, map: null }
    },
  },
}

/**
 * Minifies bundled packages only, which then compile sooner; our code keeps readable stack traces. rolldown writes each
 * CommonJS module as an arrow function in parentheses, which Node 20 parses twice; it compiles a `function` in parentheses at
 * once. So the arrow functions are rewritten, which saves 4 to 5 % of a command's time.
 */
export const shrinkPackages = {
  name: 'shrink-packages',
  // Not in `renderChunk`: rolldown would print the chunk again, with its white space.
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk' || chunk.isEntry || !chunk.moduleIds.every(isPackaged)) continue
      const { code } = minifySync(chunk.fileName, chunk.code, { module: true })
      chunk.code = code.replace(/=(\w+)\(\((?:\(([\w,]*)\)|(\w+))=>\{/g, '=$1((function($2$3){')
    }
  },
}

const PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/

/** Writes the licences of bundled packages, which require it: each text once, below the packages that it covers. */
export const passLicencesOn = (fileName) => ({
  name: 'pass-licences-on',
  generateBundle(_options, bundle) {
    const ids = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds.filter(isPackaged))
    const directories = new Set(ids.flatMap((id) => PACKAGE.exec(id) ?? []))
    this.emitFile({ type: 'asset', fileName, source: licencesOf([...directories]) })
  },
})

/** Returns the licences of packages in these directories: each text once. */
function licencesOf(directories) {
  const holders = {}
  for (const { holder, terms } of directories.toSorted((one, other) => (one < other ? -1 : 1)).map(licenceOf))
    (holders[terms] ??= new Set()).add(holder)
  const texts = Object.entries(holders).map(
    ([terms, packages]) => `${[...packages].join('\n')}\n\n${terms}\n`,
  )
  return texts.join('\n\n')
}

/**
 * Returns a licence's copyright holder and terms, without differences in line breaks. The appendix of the Apache License,
 * on how to apply it, is not one of its terms.
 */
function licenceOf(directory) {
  const { name, version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const file = readdirSync(directory).find((one) => /^licen[cs]e/i.test(one))
  if (file === undefined) throw new Error(`${name} is built in and has no licence to pass on.`)
  const paragraphs = readFileSync(join(directory, file), 'utf8').split(/\n\s*\n/)
  const texts = paragraphs.map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
  const rights = texts.filter((text) => /^copyright\b/i.test(text))
  const appendix = texts.findIndex((text) => text.startsWith('APPENDIX: How to apply'))
  const terms = (appendix === -1 ? texts : texts.slice(0, appendix)).filter(
    (text) => !rights.includes(text) && !/^(the )?(mit|isc) licen[cs]e( \(.*\))?$/i.test(text),
  )
  return { holder: [`${name} ${version}`, ...rights].join('. '), terms: terms.join('\n\n').trim() }
}
