import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { startReference, secret } from './conformance/receiver/check.ts'
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

const barTab = (pattern: string) =>
  ['01-first-round', '02-another-pint', '03-friends-arrive'].map((name) => pattern.replace('*', name))

test(
  "the README's questions are answered by its commands, as they stand there",
  { timeout: 180_000 },
  async () => {
    await service.call('PUT', '/v1/checks/external/table-12', checkBody())
    const codes: Record<string, number | null> = {}
    for (const line of commands) {
      const [npx, tabwire, ...args] = wordsOf(line)
      expect([npx, tabwire]).toEqual(['npx', 'tabwire'])
      const { code, stdout, stderr } = await service.run(args)
      codes[line] = code
      expect(stdout + stderr).not.toMatch(/^Error/m)
    }
    expect(commands).toHaveLength(8)
    expect(Object.values(codes).filter((code) => code !== 0)).toEqual([])
  },
)

const flat = (text: string) => text.replace(/\s+/g, ' ')

test.each([
  ['refuses', join(fixtures, 'receivers/wrong/ignores-the-future.mjs'), []],
  ['converges', stranger('wrong/adds-every-payment'), ['--state-url', 'checks/{external_check_id}']],
] as const)(
  "its example of %s has the words of the program's",
  { timeout: 180_000 },
  async (group, program, [flag, path]) => {
    const { url } = await startReference([process.execPath, program])
    const more = flag === undefined ? [] : [flag, `${url}${path}`]
    const { stdout } = await service.run([
      'receiver',
      'check',
      url,
      '--secret',
      secret,
      '--only',
      group,
      ...more,
    ])
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    const example = new RegExp(`^\`\`\`\n${group}\n([^]*?)\n(?:\n|\`\`\`)`, 'm').exec(readme)?.[1] ?? 'none'
    expect(flat(stdout)).toContain(flat(example))
  },
)
