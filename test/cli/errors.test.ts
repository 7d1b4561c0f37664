import { Errors } from '@oclif/core'
import { describe, expect, test } from 'vitest'
import { ApiError, Unreachable } from '../../src/client.ts'
import { CommandError, describeFailure, exitCodes } from '../../src/cli/errors.ts'
import { renderError } from '../../src/cli/render/messages.ts'

const refusal = (status: number, body: Record<string, unknown>) => new ApiError(status, body, 'req_1')

describe('how a command ends', () => {
  test.each([
    ['a refused key', refusal(401, { code: 'unauthorized', message: 'No.' }), exitCodes.keyRefused],
    ['a missing scope', refusal(403, { code: 'insufficient_scope', message: 'No.' }), exitCodes.keyRefused],
    ['a refused host', refusal(403, { code: 'forbidden_host', message: 'No.' }), exitCodes.failed],
    [
      'any other refusal',
      refusal(409, { code: 'conflict_with_paid_items', message: 'No.' }),
      exitCodes.failed,
    ],
    ['no service', new Unreachable('Nobody.'), exitCodes.failed],
    ['wrong usage', new Errors.CLIError('No such flag.'), exitCodes.usage],
    ['what a command found', new CommandError('x', 'No.', exitCodes.checkFailed), exitCodes.checkFailed],
    ['a bug', new TypeError('x is not a function'), exitCodes.failed],
  ])('after %s', (_what, error, code) => {
    expect(describeFailure(error).exitCode).toBe(code)
  })
})

describe('messages of commands', () => {
  test('with --json is the error of the API, whole', () => {
    const conflicts = [{ external_id: 'line-1', reason: 'removed', claimed_quantity: 1 }]
    const body = { code: 'conflict_with_paid_items', message: 'No.', request_id: 'req_1', conflicts }
    expect(describeFailure(refusal(409, body)).json).toEqual(body)
  })

  test('of several issues is each of them once', () => {
    const issues = [
      { path: 'status', message: 'is required' },
      { path: 'items[0].name', message: 'is required' },
    ]
    const body = {
      code: 'validation_failed',
      message: 'The body is not valid: status is required (and 1 more).',
      issues,
    }
    expect(renderError(describeFailure(refusal(422, body)))).toBe(
      'Error: 422 validation_failed: the body is not valid.\n  status is required\n  items[0].name is required\n  X-Request-Id: req_1',
    )
  })

  test('of a bug is its message without a stack', () => {
    const text = renderError(describeFailure(new TypeError('x is not a function')))
    expect(text).toBe('Error: x is not a function')
  })
})
