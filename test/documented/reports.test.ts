import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { secret, startReference } from '../conformance/receiver/check.ts'
import { isSoak, sampled } from '../soak/seeded.ts'
import { fixtures, serve, type RunningService } from '../support/cli.ts'
import { blocksOf } from './blocks.ts'
import { masked } from './masked.ts'

const blocks = blocksOf('src/guides/webhooks.md')

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return () => service.stop()
})

const stranger = (name: string) =>
  fileURLToPath(new URL(`../conformance/receiver/strangers/${name}.mjs`, import.meta.url))

/** The group that reads the receiver's state takes seconds of a processor; outside the soak, one of its cases runs. */
const shortened = (args: readonly string[]) =>
  args.map((word) => (word === 'converges' && !isSoak ? 'converges/deduplicates' : word))

test(
  `the guide's command that reads the state of a receiver passes${isSoak ? '' : ', with one case'}`,
  { timeout: 180_000 },
  async () => {
    const { url } = await startReference([process.execPath, stranger('right/newest-by-updated-at')])
    const lines = blocks.map(({ text }) => text.trim()).filter((text) => text.includes('--state-url'))
    expect(lines).toHaveLength(1)
    const [tabwire, ...args] = (lines[0] ?? '')
      .replaceAll('http://localhost:3000/', url)
      .replace('--secret-file listen.secret', `--secret ${secret}`)
      .replaceAll('"', '')
      .split(' ')
    expect(tabwire).toBe('tabwire')
    const { code, stdout, stderr } = await service.run(shortened(args))
    expect(code, stdout + stderr).toBe(0)
  },
)

/** The second one takes eight seconds of a processor. */
const examples = [
  ['refuses', join(fixtures, 'receivers/wrong/ignores-the-future.mjs'), []],
  ['converges', stranger('wrong/adds-every-payment'), ['--state-url', 'checks/{external_check_id}']],
] as const

test.each(sampled(examples, 2))(
  'the printed report of the group %s is the one in the guide',
  { timeout: 180_000 },
  async (group, program, [flag, path]) => {
    const { url } = await startReference([process.execPath, program])
    const more = flag === undefined ? [] : [flag, `${url}${path}`]
    const args = ['receiver', 'check', url, '--secret', secret, '--only', group, ...more]
    const { stdout } = await service.run(shortened(args))
    // Between the group's name and these cases are others.
    const [name, ...cases] = blocks.find(({ text }) => text.startsWith(`${group}\n`))?.text.split('\n') ?? []
    expect(stdout.split('\n')).toContain(name)
    expect(cases).not.toEqual([])
    expect(masked(stdout)).toContain(masked(cases.join('\n')))
  },
)
