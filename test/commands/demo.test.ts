import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { Scene } from '../../src/cli/demo/story.ts'
import { emptyDirectory, tabwire } from '../support/cli.ts'

describe.concurrent('tabwire demo', () => {
  test('tells the story from registration to the last verified delivery, and leaves nothing behind', async () => {
    const cwd = await emptyDirectory()
    const { code, stdout, stderr } = await tabwire(['demo'], { cwd })
    expect(code).toBe(0)
    const outcomes = stdout.match(/^(created|updated|unchanged|stale) /gm)
    expect(outcomes).toEqual(['created ', 'unchanged ', 'updated ', 'stale ', 'updated '])
    expect(
      stdout.match(/^ {2}✓ \S+ {2}over TLS, \d+ bytes, signature verified {2}evt_\w{26}$/gm),
    ).toHaveLength(4)
    expect(stdout).toMatch(/\n✓ the last event's data and GET of the check are equal\n$/)
    expect(stdout).not.toMatch(/✗|\u001b/)
    expect(stderr).toContain('tabwire start')
    expect(await readdir(cwd)).toEqual([])
  })

  test('--json tells each scene in a line: every delivery over TLS and verified', async () => {
    const { code, stdout } = await tabwire(['demo', '--json'])
    expect(code).toBe(0)
    const scenes = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Scene)
    const deliveries = scenes.filter((scene) => scene.type === 'delivered')
    expect(deliveries.map(({ event_type }) => event_type)).toEqual([
      'ping',
      'check.created',
      'check.updated',
      'check.closed',
    ])
    for (const delivery of deliveries) expect(delivery).toMatchObject({ over_tls: true, verified: true })
    expect(scenes.at(-1)).toMatchObject({ type: 'compared', equal: true })
  })
})
