import { Errors } from '@oclif/core'
import { describe, expect, test } from 'vitest'
import {
  CommandError,
  type CommandShape,
  describeFailure,
  exitCodes,
  wrongUsage,
} from '../../src/cli/errors.ts'
import { renderError } from '../../src/cli/render/messages.ts'
import { ApiError, Unreachable } from '../../src/client.ts'

const refusal = (status: number, body: Record<string, unknown>) => new ApiError(status, body, 'req_1')

describe('a command exits with its documented code', () => {
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

describe('the error message of a command', () => {
  test.each([
    [
      { code: 'EACCES', syscall: 'mkdir', path: '.tabwire' },
      'Cannot use .tabwire: permission denied. Check its permissions, or work in another directory.',
    ],
    [
      { code: 'EPERM', syscall: 'rename', path: '.run.json.x.tmp', dest: 'run.json' },
      'Cannot use run.json: operation not permitted. Check its permissions, or work in another directory.',
    ],
    [
      { code: 'ENOSPC', syscall: 'write' },
      'Cannot write a file: the disk is full. Free disk space, then run the command again.',
    ],
    [
      { code: 'EBUSY', syscall: 'open', path: 'secret' },
      'Cannot use secret: it is in use by another program. Close that program, or work in another directory.',
    ],
    [{ code: 'ENOENT', syscall: 'uv_cwd' }, 'The working directory no longer exists. Change to another one.'],
  ])('explains the error of a system call: %o', (fields, message) => {
    expect(describeFailure(Object.assign(new Error('raw'), fields)).message).toBe(message)
  })

  test.each([
    [404, '/v1/checks?limit=20', true],
    [405, '/v1/webhook-endpoints?limit=100', true],
    // A registration.
    [404, '/v1/webhook-endpoints', false],
    [404, '/v1/checks/external/a', false],
    [500, '/v1/checks', false],
  ])('says that a deployment may lack a list: %s %s %s', (status, path, isSaid) => {
    const error = new ApiError(status, { code: 'not_found', message: 'No such page.' }, null, path)
    expect(describeFailure(error).message).toBe(
      `${status} not_found: No such page.${isSaid ? ' The specification has no such list, so another deployment may not have it.' : ''}`,
    )
  })

  test.each([
    ['CERT_HAS_EXPIRED', 'Its certificate has expired. Renew it.'],
    ['CERT_NOT_YET_VALID', 'Its certificate is not valid yet. Check the clocks of both machines.'],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'Its certificate is for another host. Use a host name of the certificate.',
    ],
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      "The service's certificate is not trusted: pass the authority's certificate with --cacert.",
    ],
    ['ECONNREFUSED', 'Run this where you started Tabwire'],
  ])('without a connection (%s) says what to do', (connectionCode, advice) => {
    const error = new Unreachable('No.', { failedWhile: 'connecting', connectionCode })
    expect(describeFailure(error).message).toContain(`No. ${advice}`)
  })

  test.each([
    ['waiting', 'Check the result, then repeat the command.'],
    ['reading', 'Start the service with `tabwire start`.'],
  ] as const)('of a connection that broke (%s) says what to do', (failedWhile, advice) => {
    expect(describeFailure(new Unreachable('No.', { failedWhile })).message).toContain(`No. ${advice}`)
  })

  test('with --json is the complete error of the API', () => {
    const conflicts = [{ external_id: 'line-1', reason: 'removed', claimed_quantity: 1 }]
    const body = { code: 'conflict_with_paid_items', message: 'No.', request_id: 'req_1', conflicts }
    expect(describeFailure(refusal(409, body)).json).toEqual(body)
  })

  test('lists each of several issues once', () => {
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

  test('of a bug has no stack', () => {
    const text = renderError(describeFailure(new TypeError('x is not a function')))
    expect(text).toBe('Error: x is not a function')
  })
})

const tail: CommandShape = {
  name: 'tail',
  flags: { type: { description: 'Only this event type.' }, 'data-dir': {} },
  args: {
    shell: { description: 'Shell.', options: ['bash', 'zsh'] },
    event: { description: 'Id of the event.' },
  },
  typedAs: {},
}

test.each([
  ['Nonexistent flag: --typ', 'Unknown flag --typ. Did you mean --type?'],
  ['Nonexistent flag: --data_dri', 'Unknown flag --data_dri. Did you mean --data-dir?'],
  ['Nonexistent flags: --a, --b', 'Unknown flags --a, --b.'],
  ['Unexpected argument: b', 'Unexpected argument for `tabwire tail`: b.'],
  ['Unexpected arguments: b, c', 'Unexpected argument for `tabwire tail`: b, c.'],
  ['Missing 1 required arg:\nevent  Id of the event.', 'EVENT is missing: id of the event.'],
  ['Missing 1 required arg:\nshell  Shell.', 'SHELL is missing: shell. One of: bash, zsh.'],
  ['The following error occurred:\n  Missing required flag type', '--type is missing: only this event type.'],
  [
    'The following errors occurred:\n  Missing required flag type\n  --a=1 cannot also be provided when using --b',
    '--type is missing: only this event type. Pass --a or --b, not both.',
  ],
  [
    'Expected --type=check.crated to be one of: check.created, ping',
    '--type must be one of check.created, ping, got "check.crated". Did you mean check.created?',
  ],
  [
    'Expected xyzzy to be one of: check.created, ping',
    'EVENT must be one of check.created, ping, got "xyzzy".',
  ],
  ['Parsing --port \n\tExpected an integer but received: x', '--port must be a whole number, got "x".'],
  ['Parsing --since \n\tNot a time: x.', '--since: Not a time: x.'],
  ['Flag --id expects a value', '--id needs a value.'],
])('%j becomes an error with the problem, a suggestion and the help command', (message, told) => {
  expect(wrongUsage(`${message}\nSee more help with --help`, tail)).toBe(
    `${told} Run \`tabwire tail --help\`.`,
  )
})

test('a refused value gets a suggestion; with --json the response of the service is unchanged', () => {
  const issues = [
    { path: 'event_types[0]', message: 'must be one of check.created, check.closed, got "check.crated"' },
  ]
  const failure = describeFailure(
    new ApiError(422, { code: 'validation_failed', message: 'No.', issues }, null),
  )
  expect(failure.issues[0]?.message).toMatch(/got "check\.crated"\. Did you mean check\.created\?$/)
  expect(failure.json).toMatchObject({ issues })
})

test('errors name commands, not routes', () => {
  const message = 'Key k not found. GET /_sim/keys lists the keys.'
  const failure = describeFailure(new ApiError(404, { code: 'not_found', message }, null))
  expect(failure.message).toBe('404 not_found: Key k not found. `tabwire keys list` lists the keys.')
  expect(failure.json).toMatchObject({ message })
})
