import { readdirSync, readFileSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'rolldown/utils'
import { expect, it, test } from 'vitest'
import { contractions, oldWords } from './support/old-words.ts'

/** Words that comments may use, and users should not have to read. */
const olderWords = [
  'afresh',
  'by chance',
  'comes? about|came about',
  'goes on|go on',
  'in its place',
  'is told|are told',
  'lies (?:in|below|behind|beyond)',
  'no more\\.',
  'not good any more|any more',
  'of elsewhere',
  'on purpose',
  'put back',
  'so often|so much',
  'stands? still',
  'strangers?',
  'such a one',
  'tell(?:s)? of',
  'those there are|what there is',
  'was answered|is answered|are answered',
  'way out',
]

const pattern = new RegExp(String.raw`\b(?:${[...oldWords, ...olderWords].join('|')})(?!\w)`, 'i')

const root = fileURLToPath(new URL('../', import.meta.url))

const folders = ['pages', 'http', 'operations', 'findings', 'conformance', 'delivery', 'model']

const files = folders.flatMap((folder) =>
  readdirSync(`${root}src/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:tsx?|js)$/.test(path) && !path.endsWith('.d.ts'))
    .map((path) => `src/${folder}/${path.split(sep).join('/')}`),
)

interface Node {
  type: string
  start: number
  value?: unknown
}

/** The texts of a file with their places: literals, parts of templates and texts of JSX. */
function textsOf(path: string): { at: number; text: string }[] {
  const source = readFileSync(root + path, 'utf8')
  const { program } = parseSync(path, source, { lang: path.endsWith('x') ? 'tsx' : 'ts' })
  const texts: { at: number; text: string }[] = []
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return
    if (isNode(node) && !node.type.startsWith('Import')) {
      const { start: at, value } = node
      if ((node.type === 'Literal' || node.type === 'JSXText') && typeof value === 'string')
        texts.push({ at, text: value })
      if (node.type === 'TemplateElement') texts.push({ at, text: (value as { raw: string }).raw })
    }
    Object.values(node).forEach(walk)
  }
  walk(program)
  return texts.map(({ at, text }) => ({ at: source.slice(0, at).split('\n').length, text }))
}

function isNode(value: object): value is Node {
  return 'type' in value && typeof value.type === 'string' && 'start' in value
}

/** The old word or contraction in a text. */
function oldIn(text: string): string | undefined {
  return (pattern.exec(text) ?? contractions.exec(text))?.[0]
}

it('all texts of pages, responses, findings and checks use plain words', () => {
  const found = files.flatMap((path) =>
    textsOf(path).flatMap(({ at, text }) => {
      const old = oldIn(text)
      return old === undefined ? [] : [`${path}:${String(at)} ${old}`]
    }),
  )
  expect(found).toEqual([])
})

it('the OpenAPI document uses plain words', () => {
  const found: string[] = []
  JSON.stringify(JSON.parse(readFileSync(`${root}fixtures/openapi.json`, 'utf8')), (name, value: unknown) => {
    const isText = ['description', 'summary', 'title'].includes(name) && typeof value === 'string'
    const old = isText ? oldIn(value) : undefined
    if (old !== undefined) found.push(`${old}: ${String(value)}`)
    return value
  })
  expect(found).toEqual([])
})

test.each([
  ["It isn't there", "isn't"],
  ["it's", "it's"],
  ["the guest's items", undefined],
  ['There is nobody', 'nobody'],
  ['an in-flight attempt', undefined],
])('%j has the old word %j', (text, old) => {
  expect(oldIn(text)).toBe(old)
})
