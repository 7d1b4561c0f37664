import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../src/model/event.ts'
import type { DemoStep } from '../../src/cli/demo.ts'
import { emptyDirectory, tabwire } from '../support/cli.ts'

describe.concurrent('tabwire demo', () => {
  test('prints each step from registration to the last verified delivery, and leaves no file behind', async () => {
    const cwd = await emptyDirectory()
    const { code, stdout, stderr } = await tabwire(['demo'], { cwd })
    expect(code).toBe(0)
    const outcomes = stdout.match(/^(created|updated|unchanged|stale) /gm)
    expect(outcomes).toEqual(['created ', 'unchanged ', 'updated ', 'stale ', 'updated '])
    expect(
      stdout.match(/^ {2}✓ \S+ {2}over TLS, \d+ bytes, signature verified {2}evt_\w{26}$/gm),
    ).toHaveLength(10)
    expect(stdout).toMatch(/\n409 conflict_with_paid_items\n {2}.*line-2 \(removed\)/)
    expect(stdout).toMatch(/\npaid {2}demo-table-12 {2}Ben .*\n {2}the check is fully paid\n/)
    expect(stdout).toMatch(/\n✓ the data of the last event and the check from the API are equal\n/)
    expect(stdout).not.toMatch(/✗|\u001b/)
    expect(stderr).toContain('tabwire start')
    expect(await readdir(cwd)).toEqual([])
  })

  test('--json prints each step on a line: every delivery over TLS and verified', async () => {
    const { code, stdout } = await tabwire(['demo', '--json'])
    expect(code).toBe(0)
    const steps = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as DemoStep)
    const deliveries = steps.filter((step) => step.type === 'delivered')
    const types = deliveries.map(({ event_type }) => event_type)
    expect(new Set(types)).toEqual(new Set(['ping', ...eventTypes]))
    for (const delivery of deliveries) expect(delivery).toMatchObject({ over_tls: true, verified: true })
    expect(steps).toContainEqual(expect.objectContaining({ type: 'compared', equal: true }))
    expect(steps).toContainEqual(expect.objectContaining({ type: 'refused', status: 409 }))
  })
})
