import { Errors } from '@oclif/core'
import { describe, expect, test } from 'vitest'
import {
  CommandError,
  type CommandShape,
  describeFailure,
  exitCodes,
  unusedProxyIn,
  wrongUsage,
} from '../../src/cli/errors.ts'
import { renderError } from '../../src/cli/render/messages.ts'
import { ApiError, TimedOut, Unreachable } from '../../src/client.ts'

const refusal = (status: number, body: Record<string, unknown>) => new ApiError(status, body, 'req_1')

describe('a command exits with its documented code', () => {
  test.each([
    ['a refused key', refusal(401, { code: 'unauthorized', message: 'No.' }), exitCodes.keyRefused],
    ['a missing scope', refusal(403, { code: 'insufficient_scope', message: 'No.' }), exitCodes.keyRefused],
    ['a refused host', refusal(403, { code: 'forbidden_host', message: 'No.' }), exitCodes.failed],
    ['an injected fault', refusal(401, { code: 'fault_injected', message: 'Injected.' }), exitCodes.failed],
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
    [
      { code: 'EDQUOT', syscall: 'write', path: 'report.xml' },
      'Cannot write report.xml: the disk is full. Free disk space, then run the command again.',
    ],
    [{ code: 'EACCES', syscall: 'kill' }, 'raw'],
    [{ code: 'EMFILE', syscall: 'open', path: 'secret' }, 'raw'],
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
    [500, '/v1/checks?limit=20', false],
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
    ['ENOTFOUND', true, 'Check the network, or correct the URL:'],
    ['EAI_AGAIN', true, 'Check the network, or correct the URL:'],
    ['ECONNREFUSED', true, 'Start a service there with `tabwire start`, or correct the URL:'],
    ['ENOTFOUND', false, 'Run this where you started Tabwire'],
  ])(
    'without a connection (%s) names the URL when it was given: %s',
    (connectionCode, isUrlGiven, advice) => {
      const error = new Unreachable('No.', { failedWhile: 'connecting', connectionCode })
      expect(describeFailure(error, { ...tail, isUrlGiven }).message).toContain(`No. ${advice}`)
    },
  )

  test.each<[code: string, changes: Partial<CommandShape>, said: string]>([
    ['unauthorized', { hasKey: false }, 'No API key found. Run this where you started Tabwire,'],
    ['unauthorized', { hasKey: true }, 'No. Commands take the key from --api-key,'],
    ['unauthorized', { profile: 'staging' }, 'No. The key comes from --api-key, or from the variable'],
    ['fault_injected', { hasKey: false }, 'No.'],
  ])('of a 401 %s says where the key comes from: %j', (code, changes, said) => {
    const { message } = describeFailure(refusal(401, { code, message: 'No.' }), { ...tail, ...changes })
    expect(message.startsWith(`401 ${code}: ${said}`)).toBe(true)
  })

  test.each<[code: string, message: string, fields: readonly string[], said: string, exitCode: number]>([
    ['invalid_query', 'limit is wrong.', [], '--limit is wrong. Run `tabwire tail --help`.', 2],
    ['invalid_path', 'rating is wrong.', [], 'RATING is wrong. Run `tabwire tail --help`.', 2],
    ['not_found', 'limit is wrong.', [], '404 not_found: limit is wrong.', 1],
    ['invalid_query', 'cursor is wrong.', [], '404 invalid_query: cursor is wrong.', 1],
    [
      'validation_failed',
      'No.',
      ['items[0].rating', 'limit'],
      'RATING is wrong. --limit is wrong. Run `tabwire tail --help`.',
      2,
    ],
    ['validation_failed', 'No.', ['limit', 'name'], '404 validation_failed: the body is not valid.', 1],
    ['validation_failed', 'No.', [], '404 validation_failed: No.', 1],
  ])('names the words that were typed: %s, %s %j', (code, message, fields, said, exitCode) => {
    const issues = fields.map((path) => ({ path, message: 'is wrong' }))
    const typedAs = { limit: '--limit', rating: 'RATING' }
    expect(describeFailure(refusal(404, { code, message, issues }), { ...tail, typedAs })).toMatchObject({
      message: said,
      exitCode,
    })
  })

  test.each([
    ['waiting', 'Check the result, then repeat the command.'],
    ['reading', 'Start the service with `tabwire start`.'],
  ] as const)('of a connection that broke (%s) says what to do', (failedWhile, advice) => {
    expect(describeFailure(new Unreachable('No.', { failedWhile })).message).toContain(`No. ${advice}`)
  })

  test('without a key is that of the service when it is no 401', () => {
    const { message } = describeFailure(refusal(404, { code: 'not_found', message: 'No.' }), {
      ...tail,
      hasKey: false,
    })
    expect(message).toBe('404 not_found: No.')
  })

  test('with --json is the complete error of the API', () => {
    const conflicts = [{ external_id: 'line-1', reason: 'removed', claimed_quantity: 1 }]
    const body = { code: 'conflict_with_paid_items', message: 'No.', request_id: 'req_1', conflicts }
    expect(describeFailure(refusal(409, body)).json).toEqual(body)
  })

  test('with --json has the code of its cause', () => {
    const errors = [new CommandError('no_such_file', 'No.'), new TimedOut('No.'), new Unreachable('No.')]
    expect(errors.map((error) => describeFailure(error).json)).toMatchObject([
      { code: 'no_such_file' },
      { code: 'timeout' },
      { code: 'unreachable' },
    ])
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
  [
    'Missing 1 required arg:\nevent  Id of the event.\n\nNote: --type allows multiple values.',
    'EVENT is missing: id of the event.',
  ],
  ['--type is odd', '--type is odd.'],
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

describe('an error for a host that cannot be reached directly', () => {
  const messageOf = (error: Error, proxyVariable: string | undefined) =>
    describeFailure(error, { ...tail, isUrlGiven: true, proxyVariable }).message
  const unused = 'HTTPS_PROXY is set, but Tabwire connects without a proxy.'

  test.each([
    new Unreachable('No service answers at https://a.test (getaddrinfo ENOTFOUND a.test).', {
      failedWhile: 'connecting',
      connectionCode: 'ENOTFOUND',
    }),
    new CommandError('unreachable', 'https://a.test did not respond: connect ETIMEDOUT 192.0.2.1:443.'),
    new Error('Cannot reach https://a.test: host not found (ENOTFOUND).'),
  ])('names a proxy that is not used: $message', (error) => {
    expect(messageOf(error, 'HTTPS_PROXY')).toContain(`${error.message} ${unused}`)
    expect(messageOf(error, undefined)).not.toContain('proxy')
  })

  test('names none when the host refused the connection', () => {
    const refused = new Unreachable('No service answers at http://127.0.0.1:1 (connection refused).', {
      failedWhile: 'connecting',
      connectionCode: 'ECONNREFUSED',
    })
    expect(messageOf(refused, 'HTTPS_PROXY')).not.toContain('proxy')
  })

  test('finds the proxy in the environment, unless Node uses it', () => {
    expect(unusedProxyIn({ HTTPS_PROXY: '', http_proxy: 'http://p:3128' })).toBe('http_proxy')
    expect(unusedProxyIn({ HTTPS_PROXY: 'http://p:3128', NODE_USE_ENV_PROXY: '1' })).toBeUndefined()
    expect(unusedProxyIn({})).toBeUndefined()
  })
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

test.each([
  ['No delivery with this id. It is old.', ' Run `tabwire deliveries list`.'],
  ['No event with this id. It is old.', ' Run `tabwire events list`.'],
  ['No check with this id.', ''],
])('the error %j names the command that lists ids', (message, said) => {
  const failure = describeFailure(new ApiError(404, { code: 'not_found', message }, null))
  expect(failure.message).toBe(`404 not_found: ${message}${said}`)
})

test('errors name commands, not routes', () => {
  const message = 'Key k not found. GET /_sim/keys lists the keys.'
  const failure = describeFailure(new ApiError(404, { code: 'not_found', message }, null))
  expect(failure.message).toBe('404 not_found: Key k not found. `tabwire keys list` lists the keys.')
  expect(failure.json).toMatchObject({ message })
})
