import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { scopes } from '../src/model/api-key.ts'
import { pushBody } from '../src/model/check.ts'
import { errorDetails } from '../src/model/error-details.ts'
import { eventTypes } from '../src/model/event.ts'
import { retryInMs, retryScheduleMs } from '../src/model/retry-schedule.ts'
import { ORDER_BY } from '../src/model/revision.ts'
import { findingCodes } from '../src/model/simulator/report.ts'
import * as views from '../src/model/views.ts'
import { statusOf } from '../src/http/refusals.ts'
import { verify } from '../src/signature/node.ts'
import { sectionsOf } from './support/citations.ts'

const text = readFileSync(new URL('../src/guides/service.md', import.meta.url), 'utf8')
const sections = sectionsOf(text)
const section = (name: string) => sections.get(name)?.text ?? ''
const document = JSON.parse(
  readFileSync(new URL('../fixtures/openapi.json', import.meta.url), 'utf8'),
) as OpenApi

interface OpenApi {
  paths: Record<string, Record<string, { responses?: object; security?: { apiKey?: string[] }[] }>>
}

/** The cells of each row of the tables in a section, without their backticks. */
function rowsOf(name: string): string[][] {
  const lines = section(name)
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

/** The cell after the first one of the row that begins with this text. */
function cellOf(name: string, first: string): string | undefined {
  return rowsOf(name).find(([cell]) => cell === first)?.[1]
}

const fieldsOf = (view: z.ZodObject) => Object.keys(view.shape).join(', ')
const operationsUnder = (base: string) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    path.startsWith(base)
      ? Object.entries(methods)
          .filter(([, { responses }]) => responses !== undefined)
          .map(([method, { security }]) => ({
            name: `${method.toUpperCase()} ${path.slice(base.length)}`,
            scope: security?.[0]?.apiKey?.[0],
          }))
      : [],
  )

describe('the service reference', () => {
  test.each<[string, z.ZodObject]>([
    ['Check', views.checkView],
    ['Item', views.checkView.shape.items.element],
    ['Location', views.locationView],
    ['Claim', views.claimView],
    ['Payment', views.paymentView],
    ['Feedback', views.feedbackView],
    ['Webhook endpoint', views.endpointView],
  ])('lists the fields of the record %s', (record, view) => {
    expect(cellOf('contract 3', record)).toBe(fieldsOf(view))
  })

  test('lists every route of /v1 with its scope', () => {
    const told = rowsOf('contract 4').map(([operation, scope]) => ({ name: operation, scope }))
    expect(told).toEqual(expect.arrayContaining(operationsUnder('/v1')))
  })

  test('lists every path below /_sim', () => {
    const told = section('contract 7') + section('contract 10')
    const missing = operationsUnder('/_sim').filter(({ name }) => {
      const [, path = ''] = name.split(' ')
      return !told.includes(`${path}\``) && !told.includes(`/_sim${path}\``)
    })
    expect(missing).toEqual([])
  })

  test('lists every error code with its status and fields', () => {
    const told = new Map(
      rowsOf('contract 4').map(([status, code = '', , fields]) => [code, [status, fields]]),
    )
    for (const [code, status] of Object.entries(statusOf)) {
      const details = Object.entries(errorDetails).find(([name]) => name === code)?.[1] ?? {}
      expect([code, ...(told.get(code) ?? [])]).toEqual([
        code,
        String(status),
        Object.keys(details).join(', '),
      ])
    }
    expect(told.get('internal_error')?.[0]).toBe('500')
  })

  test('lists the event types, the scopes and the findings in their order', () => {
    const firstCells = (name: string, known: readonly string[]) =>
      rowsOf(name)
        .map(([cell = '']) => cell)
        .filter((cell) => known.includes(cell))
    expect(firstCells('specification 6', eventTypes)).toEqual(eventTypes)
    expect(firstCells('contract 2', scopes)).toEqual(scopes)
    expect(firstCells('contract 11', findingCodes)).toEqual(findingCodes)
  })

  test('lists the waits of the retry schedule', () => {
    const unit: Record<string, number> = { minute: 60_000, hour: 3_600_000 }
    const waits = rowsOf('specification 6').flatMap(([attempt = '', wait = '']) => {
      const [, number, name = ''] = /^(\d+) (minute|hour)s?$/.exec(wait) ?? []
      return /^\d$/.test(attempt) && number !== undefined ? [Number(number) * (unit[name] ?? 0)] : []
    })
    expect(waits).toEqual(retryScheduleMs)
    expect(waits.map((_wait, index) => retryInMs(index + 1, 'check.created'))).toEqual(waits)
  })

  test('has an example of a signature that verifies', () => {
    const [, secret = ''] = /`(whsec_\w{43})`/.exec(section('specification 5')) ?? []
    const [, payload = ''] = /```text\n(\{.*)\n```/.exec(section('specification 5')) ?? []
    const [, header = ''] = /X-Service-Signature: (t=.*)/.exec(section('specification 5')) ?? []
    const now = new Date(Number(/^t=(\d+)/.exec(header)?.[1]) * 1000)
    expect(verify({ payload, header, secret, now })).toMatchObject({ ok: true })
    expect(verify({ payload: `${payload} `, header, secret, now })).toMatchObject({ ok: false })
  })

  test('lists the limits of the schema of a push, and the ordering field', () => {
    const { items, table } = pushBody.shape
    const { maxItems, items: item } = z.toJSONSchema(items) as {
      maxItems: number
      items: { properties: Record<string, { maximum?: number; maxLength?: number }> }
    }
    const bounds = new Map(rowsOf('contract 5').map(([field, , bound]) => [field, bound]))
    const shown = (number: number | undefined) => number?.toLocaleString('en')
    expect(bounds.get('items')).toContain(`${shown(maxItems)} items`)
    expect(bounds.get('items[].quantity')).toContain(`up to ${shown(item.properties.quantity?.maximum)}`)
    expect(bounds.get('items[].name')).toContain(`to ${shown(item.properties.name?.maxLength)} `)
    expect(bounds.get('table.number')).toContain(`to ${z.toJSONSchema(table.shape.number).maxLength} `)
    expect(bounds.has(ORDER_BY)).toBe(true)
  })
})
