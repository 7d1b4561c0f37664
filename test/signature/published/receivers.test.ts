import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { receiverExamples, type ReceiverLanguage } from '../../../src/cli/conformance/receiver.ts'
import { isHere, type Program } from '../../conformance/receiver/check.ts'
import { isSoak } from '../../soak/seeded.ts'
import { emptyDirectory, fixtures } from '../../support/cli.ts'
import { makeVectors, type Vector } from './make.ts'

const runner = (name: string) => fileURLToPath(new URL(`./runners/${name}`, import.meta.url))
const receiver = (language: ReceiverLanguage) => join(fixtures, 'receivers', receiverExamples[language])

interface Runtime {
  /** Each ends with 0 where the language is here. */
  probes: readonly Program[]
  /** Prepares a run in an empty directory. */
  build?: (cwd: string) => Promise<void>
  command: Program
}

/** A runtime whose runner loads the receiver from its path. */
function interpreted(language: ReceiverLanguage, probe: Program, command: string): Runtime {
  const file = runner(receiverExamples[language])
  return { probes: [probe], command: [command, file, receiver(language), 'vectors.json'] }
}

const runtimes: Record<ReceiverLanguage, Runtime> = {
  csharp: {
    probes: [
      ['mcs', '--version'],
      ['mono', '--version'],
    ],
    async build(cwd) {
      await writeFile(join(cwd, 'vectors.cs'), withIsGenuine(readFileSync(receiver('csharp'), 'utf8')))
      execFileSync('mcs', ['-out:vectors.exe', 'vectors.cs'], { cwd })
    },
    command: ['mono', 'vectors.exe', 'vectors.tsv'],
  },
  go: {
    probes: [['go', 'version']],
    async build(cwd) {
      await copyFile(receiver('go'), join(cwd, 'receiver.go'))
      await copyFile(runner('go.go'), join(cwd, 'vectors.go'))
      execFileSync('go', ['build', '-o', 'vectors', 'receiver.go', 'vectors.go'], { cwd })
    },
    command: ['./vectors', 'vectors.json'],
  },
  java: {
    probes: [['javac', '--version']],
    async build(cwd) {
      execFileSync('javac', ['-encoding', 'UTF-8', '-d', '.', receiver('java'), runner('Vectors.java')], {
        cwd,
      })
    },
    command: ['java', '-cp', '.', 'Vectors', 'vectors.tsv'],
  },
  node: interpreted('node', [process.execPath, '--version'], process.execPath),
  php: interpreted('php', ['php', '-r', 'exit(PHP_VERSION_ID < 80000 ? 1 : 0);'], 'php'),
  python: interpreted('python', ['python3', '--version'], 'python3'),
  ruby: interpreted('ruby', ['ruby', '-e', "require 'webrick'"], 'ruby'),
}

/** The runner in C#, with the function of the receiver and the pattern that it reads. */
function withIsGenuine(source: string): string {
  const [pattern = ''] = /^var pattern = .*$/m.exec(source) ?? []
  const [isGenuine = ''] = /^bool IsGenuine\([^]*?^\}$/m.exec(source) ?? []
  expect([pattern, isGenuine]).not.toContain('')
  const member = pattern.replace('var pattern', 'static readonly Regex pattern')
  return readFileSync(runner('csharp.cs'), 'utf8').replace(
    '/* IsGenuine */',
    () => `${member}\n    static ${isGenuine}`,
  )
}

async function writeVectors(cwd: string, vectors: readonly Vector[]): Promise<void> {
  const text = (value: string) => Buffer.from(value).toString('base64')
  const lines = vectors.map(({ name, secret, header, body, now, tolerance, verdict }) =>
    [text(name), text(secret), text(header ?? ''), body, now, tolerance, verdict].join('\t'),
  )
  await writeFile(join(cwd, 'vectors.tsv'), `${lines.join('\n')}\n`)
  await writeFile(join(cwd, 'vectors.json'), JSON.stringify({ format: 1, vectors }))
}

function run([file, ...args]: Program, cwd: string) {
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, WEBHOOK_SECRET: 'whsec_unused' },
  })
  return { status, stdout, stderr }
}

const vectors = makeVectors()
const count = vectors.length

/** The last vector that is accepted, and the last that is rejected, in their order. */
const lasts = vectors.filter(
  ({ verdict }, index) =>
    verdict !== 'either' && index === vectors.findLastIndex((one) => one.verdict === verdict),
)

/** The vectors, with the opposite verdict for those. */
const withWrongOnes = vectors.map((one): Vector =>
  lasts.includes(one) ? { ...one, verdict: one.verdict === 'accepted' ? 'rejected' : 'accepted' } : one,
)

describe.each(Object.entries(runtimes))('the receiver in %s', (language, { probes, build, command }) => {
  // Compilers take seconds of a processor.
  test.skipIf((build !== undefined && !isSoak) || !probes.every(isHere))(
    `passes all vectors in ${language}, and fails for a wrong one of each verdict`,
    async () => {
      const cwd = await emptyDirectory()
      await build?.(cwd)
      await writeVectors(cwd, vectors)
      const { stdout, ...right } = run(command, cwd)
      expect({ ...right, stdout }).toEqual({
        status: 0,
        stdout: `${language}: ${count} of ${count}\n`,
        stderr: '',
      })
      await writeVectors(cwd, withWrongOnes)
      expect(run(command, cwd)).toEqual({
        status: 1,
        stdout: `${language}: ${count - 2} of ${count}\n`,
        stderr: lasts.map(({ name }) => `${name}\n`).join(''),
      })
    },
  )
})
