import { readdirSync, readFileSync } from 'node:fs'
import { basename, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { oldWords } from './support/old-words.ts'

/** Words that no file and no function, class, type or constant has in its name; the standard term is the value. */
const names: Record<string, string> = {
  befall: 'inject',
  circumstances: 'context',
  door: 'tunnel or server',
  fate: 'fault plan',
  flight: 'in-flight attempt',
  flights: 'in-flight attempts',
  fold: 'compact',
  folding: 'compaction',
  furnish: 'seed the store',
  meal: 'demo steps',
  misfortune: 'fault',
  moment: 'time',
  nearest: 'did you mean',
  news: 'deduplicate, or a name of what is new',
  patience: 'timeouts',
  present: 'print',
  recall: 'abort',
  relay: 'forward',
  remembering: 'memoize',
  rests: 'backoff',
  roll: 'fault sequence',
  scene: 'demo steps',
  seat: 'terminal, or table',
  slip: 'mistake',
  stage: 'demo steps',
  surroundings: 'environment',
  tally: 'report, or count',
  turns: 'fair queue',
  verdicts: 'assertions',
  visit: 'request context',
  vouched: 'checksummed',
  withdraw: 'tunnel',
}

const root = fileURLToPath(new URL('../', import.meta.url))

const files = ['bin', 'src', 'test'].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:tsx?|m?js)$/.test(path))
    .map((path) => `${folder}/${path.split(sep).join('/')}`)
    .filter((path) => !/^test\/(?:language[^/]*\.test|support\/old-words)\.ts$/.test(path)),
)

/** `path:line word` of each comment and each test name that has one of the words. */
function foundInProse(path: string): string[] {
  return readFileSync(`${root}${path}`, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const text = proseOf(line)
      const found = text === undefined ? null : pattern.exec(text)
      return found === null ? [] : [`${path}:${String(index + 1)} ${found[0]}`]
    })
}

const pattern = new RegExp(String.raw`\b(?:${oldWords.join('|')})\b`, 'i')

/** The name of a test or group; that of a table, or after a condition; and a text of three words in a row or on its own. */
const testNames = [
  /^\s*(?:it|test|describe)(?:\.\w+)*\(\s*(['"`].*)$/,
  /\)\((['"`].*)$/,
  /^\s*\[?'((?:[^' ]+ ){2,}[^']*)',/,
]

/** The comment of a line, or the name of the test that begins on it. */
function proseOf(line: string): string | undefined {
  const comment = /^\s*(?:\/\/|\/\*\*?|\*)(.*)$/.exec(line) ?? /[^:'"`]\/\/ (.*)$/.exec(line)
  return comment?.[1] ?? testNames.map((name) => name.exec(line)?.[1]).find((text) => text !== undefined)
}

/** `path name` of each file and each declaration whose name has one of the words. */
function foundInNames(path: string): string[] {
  const text = readFileSync(`${root}${path}`, 'utf8')
  const declared = [...text.matchAll(declaration)].flatMap(([, name]) => (name === undefined ? [] : [name]))
  return [basename(path).replace(/\..*$/, ''), ...declared]
    .filter((name) =>
      wordsOf(name).some(
        (word, index, words) =>
          Object.hasOwn(names, word) && !(word === 'flight' && words[index - 1] === 'in'),
      ),
    )
    .map((name) => `${path} ${name}`)
}

const declaration =
  /^\s*(?:export )?(?:default )?(?:async )?(?:function\*?|class|interface|type|const|let) (\w+)/gm

/** `letOvertakenGo` → `let`, `overtaken`, `go`. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_.]/)
}

it('comments and test names use plain words', () => {
  expect(files.flatMap(foundInProse)).toEqual([])
})

it('files and declarations have the standard names', () => {
  expect(files.flatMap(foundInNames)).toEqual([])
})
