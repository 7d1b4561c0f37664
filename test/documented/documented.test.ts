import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../soak/seeded.ts'
import { parse } from 'yaml'
import { isHere } from '../conformance/receiver/check.ts'
import { emptyDirectory, fixtures, spawnProcess } from '../support/cli.ts'
import { root } from '../support/packed.ts'
import { blocksOf, documents, readDocument, type Block } from './blocks.ts'
import { commandLines, inlineCommands, mistakeIn } from './command-lines.ts'
import { masked } from './masked.ts'
import { exceptionOf, exceptions } from './plan.ts'
import { openSession, type Session } from './session.ts'

const blocks = documents.flatMap((document) => blocksOf(document))
const nameOf = ({ document, line, language, text }: Block) =>
  `${document}:${line} ${language} ${text.split('\n', 1)[0]}`

/** Commands that go on until they are stopped. */
const lasting = /^(?:tabwire (?:start|listen|tail)\b(?!.*--print-secret).*|node (?:https-)?receiver\.mjs)\n$/

/** Each program of the documents that is a test of this suite. */
const examples = new Map(
  readdirSync(join(root, 'test/examples')).map((name) => [
    readFileSync(join(root, 'test/examples', name), 'utf8'),
    name,
  ]),
)

/** Globals that Jest gives to tests, made of those of node:test. */
const jestGlobals = `import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
Object.assign(globalThis, { afterAll: after, beforeAll: before, beforeEach, test })
globalThis.expect = (value) => ({ toBe: (wanted) => assert.equal(value, wanted) })
`

/** Runs a block as its language and the document want it. */
async function expectToRun(block: Block, session: Session): Promise<void> {
  const { language, text, file } = block
  if (file !== undefined) await session.save(file, text)
  if (language === 'sh') return expectToPass('sh', block, session)
  if (language === 'bash' || language === 'zsh' || language === 'fish')
    return expectToPass(language, block, session)
  if (language === 'text') return expectToBePrinted(text, session)
  if (language === 'json') return expectToBeValid(JSON.parse(text), file)
  if (language === 'yaml') return expectYaml(text)
  if (language === 'powershell') return expectPowerShell(text)
  if (language === 'js' || language === 'ts') return expectProgram(block, session)
  throw new Error(`There is no way to run blocks in "${language}".`)
}

async function expectToPass(shell: string, block: Block, session: Session): Promise<void> {
  if (lasting.test(block.text)) return session.start(block.text)
  const prepared = shell === 'zsh' ? `autoload -Uz compinit\ncompinit -u\n${block.text}` : block.text
  const { code, stderr } = await session.run(shell, prepared)
  const { code: wanted = 0, printsErrors = wanted !== 0 } = exceptionOf(block) ?? {}
  expect(code, session.output()).toBe(wanted)
  if (!printsErrors) expect(stderr).not.toMatch(/\bWarning\b|^Error\b/m)
}

async function expectToBePrinted(text: string, session: Session): Promise<void> {
  const wanted = masked(session.translate(text))
  if (!session.goesOn()) return expect(masked(session.output())).toContain(wanted)
  await expect.poll(() => masked(session.output()), { timeout: 15_000 }).toContain(wanted)
}

/** JSON that names its schema, or is a settings file, is valid by it. */
function expectToBeValid(content: unknown, file: string | undefined): void {
  if (Array.isArray(content)) return content.forEach((element) => expectToBeValid(element, file))
  const { $schema } = content as { $schema?: string }
  const named = $schema?.split('/').at(-1)
  const schema = file === 'tabwire.config.json' ? 'config.schema.json' : named
  if (schema === undefined) throw new Error('The block names no schema.')
  const ajv = new Ajv2020({ allErrors: true })
  const validate = ajv.compile(JSON.parse(readFileSync(join(fixtures, schema), 'utf8')) as object)
  validate(content)
  expect(validate.errors).toBe(null)
}

function expectYaml(text: string): void {
  expect(parse(text)).toBeTypeOf('object')
}

/** Checks without PowerShell: quotes and brackets are closed, and no syntax of another shell is used. */
function expectPowerShell(text: string): void {
  const bare = text.replace(/'[^'\n]*'|"[^"\n]*"/g, 'X')
  expect(bare).not.toMatch(/["']/)
  for (const [open, close] of ['()', '{}', '[]'])
    expect(bare.split(open ?? '').length).toBe(bare.split(close ?? '').length)
  expect(bare).not.toMatch(/\\$|\bcurl\b(?!\.exe)|\bexport \b|&&|--\w+ [\w.]+,/m)
  expect(bare).not.toMatch(/`[ \t]+$/m)
}

async function expectProgram(block: Block, session: Session): Promise<void> {
  const { text, language, file } = block
  if (examples.has(text)) return
  if (file === undefined || language === 'ts')
    throw new Error('The program is no file of test/examples, and the document gives it no name.')
  await checked(process.execPath, ['--check', file], session.cwd)
  if (!/^(?:beforeAll|test)\(/m.test(text) || text.includes("'node:test'")) return
  writeFileSync(join(session.cwd, 'jest-globals.mjs'), jestGlobals)
  await session.save('package.json', '{"type":"module"}')
  await checked(process.execPath, ['--import', './jest-globals.mjs', '--test', file], session.cwd)
}

async function checked(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, stdout, stderr } = await (await spawnProcess(program, args, { cwd })).ended
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 })
}

/** Returns true when the first command of a document to be run is `tabwire start`. */
const startsItself = (document: string) =>
  blocksOf(document).find((block) => block.language === 'sh' && exceptionOf(block) === undefined)?.text ===
  'tabwire start\n'

/** Programs that a language needs, where they may be missing. */
const programs: Record<string, string> = { bash: 'bash', zsh: 'zsh', fish: 'fish' }
const missing = ({ language, text }: Block) =>
  [programs[language] ?? [], language === 'sh' && /\bcurl\b/.test(text) ? 'curl' : []]
    .flat()
    .find((program) => !isHere([program, '--version']))

/** Running the blocks of a guide takes a second of a processor, so only the soak runs those of every guide. */
const isRun = new Set(sampled(documents, 8))

describe.skipIf(process.platform === 'win32')('blocks run as printed:', () => {
  for (const document of documents)
    describe(document, { shuffle: false }, () => {
      let session: Session
      beforeAll(async () => {
        session = await openSession({ startsItself: startsItself(document) })
      })
      afterAll(() => session.close())

      for (const block of blocksOf(document)) {
        const { skipped, elsewhere } = exceptionOf(block) ?? {}
        const without = missing(block)
        const reason =
          skipped ??
          (without === undefined ? undefined : `${without} is missing`) ??
          (isRun.has(document) ? undefined : 'in the soak')
        if (elsewhere !== undefined) continue
        if (reason === undefined) test(nameOf(block), () => expectToRun(block, session))
        else test.skip(`${nameOf(block)} (${reason})`, () => undefined)
      }
      test('has only existing commands', () => {
        const lines = [...blocksOf(document).flatMap(commandLines), ...inlineCommands(readDocument(document))]
        expect(lines.flatMap((line) => mistakeIn(line) ?? [])).toEqual([])
      })
    })
})

describe('blocks in PowerShell', () => {
  const isMissing = !isHere(['pwsh', '-Version'])
  const written = blocks.filter(({ language }) => language === 'powershell')

  test.skipIf(isMissing)(`are parsed by it${isMissing ? ' (pwsh is missing)' : ''}`, async () => {
    const directory = await emptyDirectory()
    for (const [index, { text }] of written.entries()) writeFileSync(join(directory, `${index}.ps1`), text)
    const script = `$found = 0; Get-ChildItem '${directory}' | ForEach-Object { $errors = $null; [void][System.Management.Automation.Language.Parser]::ParseFile($_.FullName, [ref]$null, [ref]$errors); $errors | ForEach-Object { Write-Output "$_"; $found++ } }; exit $found`
    expect(execFileSync('pwsh', ['-NoProfile', '-Command', script], { encoding: 'utf8' })).toBe('')
  })

  test.each([
    ['curl http://localhost', 'curl is another command'],
    ['tabwire push `  \n  --id x', 'blank after a backtick'],
    ['tabwire push \\\n  --id x', 'backslash'],
    ['tabwire listen --events check.created,check.closed', 'a list'],
    ["tabwire push 'x", 'an open quote'],
  ])('are refused for %j: %s', (text) => {
    expect(() => expectPowerShell(text)).toThrow()
  })
})

test.each([
  ['`tabwire clock show`, `advance`, `freeze`', []],
  ['`tabwire clock show`, `jump`, `freeze`', ['unknown command: tabwire clock jump']],
  ['`tabwire state\nload`,\n`forget`', ['unknown command: tabwire state forget']],
  ['`tabwire push --sampel two-top`', ['unknown flag --sampel: tabwire push --sampel two-top']],
])('the commands in %j have the mistakes %j', (text, mistakes) => {
  expect(inlineCommands(text).flatMap((line) => mistakeIn(line) ?? [])).toEqual(mistakes)
})

test('the front page links to every guide', () => {
  const guides = documents.filter((document) => document.startsWith('src/guides/'))
  const front = readDocument('README.md')
  expect(guides.filter((guide) => !front.includes(`](${guide})`))).toEqual([])
})

describe('the plan', () => {
  test.each(exceptions.map((one) => ({ ...one, start: one.starts.split('\n', 1)[0] })))(
    '$document: $start is the beginning of one block',
    ({ document, starts }) => {
      const found = blocks.filter((block) => block.document === document && block.text.startsWith(starts))
      expect(found).toHaveLength(1)
    },
  )
})
