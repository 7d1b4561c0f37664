import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { startReference, secret } from './conformance/receiver/check.ts'
import { isSoak, sampled } from './soak/seeded.ts'
import { checkBody, emptyDirectory, fixtures, serve, type RunningService } from './support/cli.ts'

let commands: string[]
let service: RunningService
let receiver: string
/** A receiver that shows its state. */
let open: string
beforeAll(async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const chapter = /^### Three questions, a command each\n[^]*?^### /m.exec(readme)?.[0] ?? ''
  const blocks = [...chapter.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text = '']) => text)
  commands = blocks.flatMap((text) => text.trim().split('\n'))
  const cwd = await emptyDirectory()
  await symlink(fixtures, join(cwd, 'fixtures'), 'dir')
  service = await serve({ cwd })
  for (const [name, text] of Object.entries({ 'webhook.secret': secret, 'api.key': service.key }))
    await writeFile(join(cwd, name), `${text}\n`, { mode: 0o600 })
  receiver = (await startReference([process.execPath, join(fixtures, 'receivers', 'node.mjs')])).url
  open = (await startReference([process.execPath, stranger('right/newest-by-updated-at')])).url
  return () => service.stop()
})

const stranger = (name: string) =>
  fileURLToPath(new URL(`./conformance/receiver/strangers/${name}.mjs`, import.meta.url))

/** The words of a line as a shell would make them. */
function wordsOf(line: string): string[] {
  const values: Record<string, string> = {
    '"$BASE_URL"': `${service.url}/v1`,
    'http://localhost:3000/webhooks': receiver,
    '3000/webhooks': open,
    '"localhost:3000/checks/{external_check_id}"': `${open}checks/{external_check_id}`,
  }
  const words = line.split(' ').map((word) => values[word] ?? word)
  return words.flatMap((word) => (word.endsWith('/*.json') ? barTab(word) : [word]))
}

/**
 * A whole suite takes seconds of a processor, and the tests of its command run it: outside the soak, a part shows that the
 * line is right.
 */
function shortened(args: readonly string[]): string[] {
  if (isSoak) return [...args]
  const part = { 'contract check': 'access', 'receiver check': 'accepts' }[args.slice(0, 2).join(' ')]
  if (part !== undefined && !args.includes('--only')) return [...args, '--only', part]
  return args.map((word, index) => (args[index - 1] === '--only' ? (parts[word] ?? word) : word))
}

/** The case of a group that the README tells of. */
const parts: Record<string, string> = { converges: 'converges/deduplicates' }

const barTab = (pattern: string) =>
  ['01-first-round', '02-another-pint', '03-friends-arrive'].map((name) => pattern.replace('*', name))

test(
  `the README's questions are answered by its commands, ${isSoak ? 'as they stand there' : 'with a part of each suite'}`,
  { timeout: 180_000 },
  async () => {
    await service.call('PUT', '/v1/checks/external/table-12', checkBody())
    const codes: Record<string, number | null> = {}
    for (const line of commands) {
      const [npx, tabwire, ...args] = wordsOf(line)
      expect([npx, tabwire]).toEqual(['npx', 'tabwire'])
      const { code, stdout, stderr } = await service.run(shortened(args))
      codes[line] = code
      expect(stdout + stderr).not.toMatch(/^Error/m)
    }
    expect(commands).toHaveLength(8)
    expect(Object.values(codes).filter((code) => code !== 0)).toEqual([])
  },
)

const flat = (text: string) => text.replace(/\s+/g, ' ')

/** The second one takes eight seconds of a processor. */
const examples = [
  ['refuses', join(fixtures, 'receivers/wrong/ignores-the-future.mjs'), []],
  ['converges', stranger('wrong/adds-every-payment'), ['--state-url', 'checks/{external_check_id}']],
] as const

test.each(sampled(examples, 2))(
  "its example of %s has the words of the program's",
  { timeout: 180_000 },
  async (group, program, [flag, path]) => {
    const { url } = await startReference([process.execPath, program])
    const more = flag === undefined ? [] : [flag, `${url}${path}`]
    const args = ['receiver', 'check', url, '--secret', secret, '--only', group, ...more]
    const { stdout } = await service.run(shortened(args))
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    const example = new RegExp(`^\`\`\`\n${group}\n([^]*?)\n(?:\n|\`\`\`)`, 'm').exec(readme)?.[1] ?? 'none'
    expect(flat(stdout)).toContain(flat(example))
  },
)
