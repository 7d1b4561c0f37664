import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { scopes } from '../src/model/api-key.ts'
import { pushBody } from '../src/model/check.ts'
import { ORDER_BY } from '../src/model/revision.ts'
import * as views from '../src/model/views.ts'

/** The rows of the README's table of what was decided where the specification is silent, each with its cells. */
const rows = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  .replace(/^[^]*\n## What the specification does not say\n/, '')
  .replace(/\n## [^]*$/, '')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  )
  .slice(2)
/** What was chosen, by the subject of the row. */
const decisions = new Map(rows.map(([subject = '', choice = '']) => [subject, choice]))

const fieldsOf = (view: z.ZodObject) => Object.keys(view.shape).join(', ')

describe('the README’s table of decisions', () => {
  test.each<[string, string]>([
    ["the check's representation", fieldsOf(views.checkView)],
    ["an item's representation", fieldsOf(views.checkView.shape.items.element)],
    ['the location record', fieldsOf(views.locationView)],
    ['the claim record', fieldsOf(views.claimView)],
    ['the payment record', fieldsOf(views.paymentView)],
    ['the feedback record', fieldsOf(views.feedbackView)],
    ['the endpoint record', fieldsOf(views.endpointView)],
    ['scopes and keys', scopes.map((scope) => `\`${scope}\``).join(', ')],
    ['what the ordering field is called', `\`${ORDER_BY}\`, an integer; \`start --order-by FIELD\``],
    ['which price a claimed item may not fall below', 'the one in the check now'],
    ['whose events an endpoint receives', 'those of the location of the key that registered it'],
    ['a reused connection that the receiver closes', 'goes out once more on a new connection'],
  ])('says of “%s” what the code does', (subject, choice) => {
    expect(decisions.get(subject)).toContain(choice)
  })

  test('names the bounds of a push that its schema has', () => {
    const { items, table } = pushBody.shape
    const { maxItems, items: item } = z.toJSONSchema(items) as {
      maxItems: number
      items: { properties: Record<string, { maximum?: number; maxLength?: number }> }
    }
    const bounds = [maxItems, item.properties.quantity?.maximum, item.properties.name?.maxLength]
    const number = z.toJSONSchema(table.shape.number).maxLength
    for (const bound of [...bounds, number])
      expect(decisions.get('bounds of fields')).toContain(bound?.toLocaleString('en'))
  })

  test('has no subject twice, and a choice and a reason in every row', () => {
    expect(rows.length).toBeGreaterThan(60)
    expect(decisions.size).toBe(rows.length)
    for (const cells of rows) expect(cells.map((cell) => cell !== '')).toEqual([true, true, true])
  })
})
