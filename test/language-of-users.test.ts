import { readdirSync, readFileSync, statSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { literalsIn } from './support/literals.ts'
import { anyOf, oldPhrases, oldWords } from './support/old-words.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Sources whose string and template literals users can see. */
const sources = [
  'src/assertions',
  'src/certificates',
  'src/cli',
  'src/client',
  'src/client.ts',
  'src/commands',
  'src/data-directory.ts',
  'src/library.ts',
  'src/mcp',
  'src/msw',
  'src/signature',
  'src/simulator',
  'src/store',
  'src/vitest',
].flatMap((path) => (statSync(root + path).isDirectory() ? filesIn(path) : [path]))

function filesIn(folder: string): string[] {
  return readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path.split(sep).join('/')}`)
}

const pattern = anyOf([...oldWords, ...oldPhrases])

/** A literal without a space is a name, a path or a key. */
function found({ line, text }: { line: number; text: string }): string[] {
  const word = text.includes(' ') ? pattern.exec(text)?.[0] : undefined
  return word === undefined ? [] : [`${line}: ${word} in ${JSON.stringify(text)}`]
}

describe('texts for users are in plain words', () => {
  it.each(sources)('%s', (path) => {
    expect(literalsIn(readFileSync(root + path, 'utf8')).flatMap(found)).toEqual([])
  })
})

interface Described {
  description?: string
}

interface Manifest {
  commands: Record<
    string,
    Described & { examples?: string[]; flags: Record<string, Described>; args: Record<string, Described> }
  >
}

interface Package {
  description: string
  oclif: { topics: Record<string, Described> }
}

describe('built-in scenarios', () => {
  it.each(readdirSync(`${root}fixtures/scenarios`))('%s', (file) => {
    const { title, description, steps } = JSON.parse(
      readFileSync(`${root}fixtures/scenarios/${file}`, 'utf8'),
    ) as { title: string; description: string; steps: { note?: string }[] }
    const texts = [title, description, ...steps.map(({ note = '' }) => note)]
    expect(texts.filter((text) => pattern.test(text))).toEqual([])
  })
})

describe('help', () => {
  const { commands } = JSON.parse(readFileSync(`${root}oclif.manifest.json`, 'utf8')) as Manifest
  const { description, oclif } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Package
  const described = Object.entries(commands).flatMap(([id, { flags, args, ...command }]) => [
    { of: id, text: command.description ?? '' },
    ...Object.entries({ ...flags, ...args }).map(([name, one]) => ({
      of: `${id} ${name}`,
      text: one.description ?? '',
    })),
  ])
  const examples = Object.entries(commands).flatMap(([id, command]) =>
    (command.examples ?? []).map((text) => ({ of: id, text })),
  )
  const topics = Object.entries(oclif.topics).map(([of, one]) => ({ of, text: one.description ?? '' }))

  it('is in plain words', () => {
    const texts = [...described, ...examples, ...topics, { of: 'package.json', text: description }]
    expect(texts.flatMap(({ of, text }) => (pattern.test(text) ? [`${of}: ${text}`] : []))).toEqual([])
  })

  it('describes every command, topic, argument and flag', () => {
    expect([...described, ...topics].filter(({ text }) => text === '')).toEqual([])
  })

  it('has sentences of at most 25 words', () => {
    const long = described.flatMap(({ of, text }) =>
      text
        .split(/(?<=[.?!])\s|\n/)
        .filter((sentence) => !/: \S+(?:, \S+){3}/.test(sentence) && sentence.split(' ').length > 25)
        .map((sentence) => `${of}: ${sentence}`),
    )
    expect(long).toEqual([])
  })

  it('names no file that a user of the package lacks', () => {
    expect(examples.filter(({ text }) => text.includes('fixtures/checks'))).toEqual([])
  })
})

describe('the check of words', () => {
  test.each([
    ['const a = "It isn\'t there."', 1],
    ['const a = `What is no ${b ? `door` : `gate`} …`', 3],
    ['const a = /"x"/.test(b) // "y"', 0],
    ["/* 'x' */ const a = 4 / 2, b = 'x'", 1],
  ])('reads literals of %j', (source, number) => {
    expect(literalsIn(source)).toHaveLength(number)
  })

  const unplain = ["It isn't there.", 'It is made anew.', 'x is no number.', 'You’ll see.']

  test.each(unplain)('finds %j', (text) => {
    expect(pattern.test(text)).toBe(true)
  })

  test.each(['There is no key.', 'It is no longer there.', 'attempts in flight', "the service's name"])(
    'accepts %j',
    (text) => {
      expect(pattern.test(text)).toBe(false)
    },
  )
})
