import { expect, test } from 'vitest'
import { check, errorOf, item } from '../support/simulator.ts'
import { checksOf, openTarget } from './standing.ts'

test('JSON other than an object, or with a repeated item, is refused with 422 and its path', async () => {
  const target = await openTarget()
  const twice = check({ items: [item('tea'), item('pie'), item('tea', { name: 'Another tea' })] })
  for (const [body, path] of [
    ...['null', '[]', '"x"', '1', 'true'].map((text) => [text, 'body'] as const),
    [JSON.stringify(twice), 'items[2].external_id'] as const,
  ]) {
    const answer = await target.call('PUT /v1/checks/external/a', { body })
    expect([body, answer.status]).toEqual([body, 422])
    expect(errorOf(answer).issues).toMatchObject([{ path }])
  }
  expect(await checksOf(target)).toEqual([])
  await target.stands()
})
