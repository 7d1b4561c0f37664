import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { describe, expect, test } from 'vitest'
import { citationsIn, sectionsOf, unresolved } from './support/citations.ts'
import { documents as guideDocuments } from './documented/blocks.ts'
import { root } from './support/packed.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const sections = sectionsOf(read('src/guides/service.md'))

/** Sources that may cite; this test cites what does not exist. */
const sources = ['src', 'test', 'bin'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.split(sep).join('/')}`)
    .filter((path) => /\.(?:tsx?|[mc]?js|md)$/.test(path) && !path.endsWith('/citations.test.ts')),
)

/** Cases of the contract check cite the specification without its name. */
const usualOf = (path: string) =>
  path.startsWith('src/conformance/contract/') ? ('specification' as const) : undefined

describe('a citation of a section', () => {
  test('points to an existing heading and rule of the service reference', () => {
    const citations = sources.map((path) => ({ path, found: citationsIn(read(path), usualOf(path)) }))
    const broken = citations.flatMap(({ path, found }) =>
      unresolved(found, sections).map((words) => `${path}: ${words}`),
    )
    expect(broken).toEqual([])
    // If the pattern found nothing, nothing would be broken.
    expect(citations.flatMap(({ found }) => found).length).toBeGreaterThan(150)
  })

  test('can point to every section of the specification and of the contract', () => {
    const numbers = (kind: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${kind} ${index + 1}`)
    expect([...sections.keys()]).toEqual([...numbers('specification', 9), ...numbers('contract', 14)])
  })

  test.each([
    ['specification section 4, rule 3', []],
    ['specification sections 2 and 4', []],
    ['specification sections 4 to 6; contract section 6, rules 1 to 4', []],
    ['Specification, section 5, steps 1 to 5', []],
    ['what the specification asks for (section 6, rule 7)', []],
    [' * (contract\n * section 9)', []],
    ['RFC 9110 section 7.6.1', []],
    ['specification section 10', ['specification section 10 (specification 10)']],
    ['contract section 15', ['contract section 15 (contract 15)']],
    ['specification section 4, rule 5', ['specification section 4, rule 5 (specification 4)']],
    ['contract section 3, rule 1', ['contract section 3, rule 1 (contract 3)']],
    ['contract sections 13 and 99', ['contract sections 13 and 99 (contract 99)']],
    ['as the contract says it (sections 7 and 16)', ['sections 7 and 16 (contract 16)']],
    [' * (specification\n * section 12)', ['specification section 12 (specification 12)']],
    ['contract section 6, rules 3 to 5', ['contract section 6, rules 3 to 5 (contract 6)']],
  ])('in “%s” is resolved, or reported as broken', (text, broken) => {
    expect(unresolved(citationsIn(text), sections)).toEqual(broken)
  })

  test('without a document name refers to the default document', () => {
    expect(unresolved(citationsIn('section 6, rule 8', 'specification'), sections)).toEqual([
      'section 6, rule 8 (specification 6)',
    ])
    expect(citationsIn('section 6, rule 8')).toEqual([])
  })
})

const documents = ['src/guides/service.md', 'src/README.md', 'test/README.md', '.github/CONTRIBUTING.md']

/** Returns the relative links of a document that lead to no file or to no heading of it. */
function missingLinks(document: string, text: string): string[] {
  const prose = text.replace(/^```[^]*?^```/gm, '')
  const links = Array.from(prose.matchAll(/\]\((?!https?:)([^)]*)\)/g), ([, target = '']) => target)
  return links.filter((target) => {
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? document : join(dirname(document), path)
    if (!existsSync(join(root, file))) return true
    return anchor !== undefined && !anchorsOf(path === '' ? text : read(file)).includes(anchor)
  })
}

/** Returns what stands in backticks and looks like a path of the repository, and leads nowhere. */
function missingPaths(document: string, text: string): string[] {
  const folder = dirname(document)
  const prose = text.replace(/^```[^]*?^```/gm, '')
  const quoted = Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, token = '']) => token)
  const missing = quoted.filter(isPath).filter((token) => {
    // Of a pattern such as `src/commands/<name>.ts`, the folder counts.
    const [fixed = ''] = token.split(/[<*{]/)
    const path = fixed === token ? token : dirname(`${fixed}x`)
    return ![folder, '.', 'src'].some((base) => existsSync(join(root, base, path)))
  })
  return [...missingLinks(document, text), ...missing]
}

const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>
const atRoot = [...readdirSync(root), ...readdirSync(join(root, 'src'))]

/** Whether a text in backticks names a file or a folder of the repository, and not a route or a file that is made. */
function isPath(token: string): boolean {
  if (Object.hasOwn({ ...dependencies, ...devDependencies }, token)) return false
  if (/[\s()]/.test(token) || /^(?:\/|@|\.tabwire\/|dist\/|https?:)/.test(token)) return false
  const [first = '', ...rest] = token.split('/')
  const isBelow = rest.length > 0 && atRoot.includes(first)
  return isBelow || token.endsWith('/') || /\.(?:tsx?|[mc]?js|md|ya?ml)$/.test(token)
}

function anchorsOf(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

describe('a document', () => {
  test.each(documents)('%s has only links and paths to existing targets', (document) => {
    expect(missingPaths(document, read(document))).toEqual([])
  })

  test.each([...guideDocuments, '.github/SECURITY.md'])(
    '%s has only links to existing targets',
    (document) => {
      expect(missingLinks(document, read(document))).toEqual([])
    },
  )

  test.each([
    ['[a link](../nowhere.md)', ['../nowhere.md']],
    ['[a heading](service.md#no-such-heading)', ['service.md#no-such-heading']],
    ['`src/model/nothing.ts`', ['src/model/nothing.ts']],
    ['`test/nothing/`', ['test/nothing/']],
    ['`nothing/<name>.ts`', ['nothing/<name>.ts']],
    ['`src/model/check.ts`, `POST /_sim/reset`, `.tabwire/ca/`, `src/commands/<topic>/<name>.ts`', []],
  ])('with %s is reported as broken', (text, missing) => {
    expect(missingPaths('src/guides/service.md', text)).toEqual(missing)
  })

  test('src/README.md names every folder and file of src', () => {
    const layout = read('src/README.md')
    const named = readdirSync(join(root, 'src'), { withFileTypes: true }).map((entry) =>
      entry.isDirectory() ? `${entry.name}/` : entry.name,
    )
    expect(named.filter((name) => name !== 'README.md' && !layout.includes(`| \`${name}\``))).toEqual([])
  })
})
