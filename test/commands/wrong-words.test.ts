import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { checkBody, serve, type RunningService } from '../support/cli.ts'

const long = 'x'.repeat(256)

/** By command and argument or flag: values that are no such thing, each with the words that follow it where it matters. */
const wrong: Record<string, readonly (string | readonly string[])[]> = {
  'completion SHELL': ['tcsh', ''],
  'contract check --wait': ['86401', '0'],
  'contract check --order-by': ['status', 'a b', ['items', '--base-url', 'http://127.0.0.1:9/v1']],
  'doctor --port': ['many', '65536', '-1'],
  'doctor --host': [''],
  'doctor --service-name': ['Acme Inc.'],
  'doctor --keep-events': ['0'],
  'doctor --disable-after': ['-1'],
  'doctor --order-by': ['status'],
  'doctor --seed': ['seven'],
  'doctor --public-url': ['https://pos.example/path'],
  'doctor --rate-limit': ['often'],
  'doctor --store': ['localhost'],
  'doctor --sandbox': ['Team A'],
  'doctor --store-key': ['short'],
  'doctor --log': ['xml'],
  'doctor --clock': ['yesterday'],
  'doctor --sign-time': ['moon'],
  'doctor --receiver': ['ftp://a.test'],
  'listen --forward-to': ['ftp://a.test', ''],
  'listen --events': [
    ['check.creatd', '--forward-to', '3000'],
    ['', '--forward-to', '3000'],
  ],
  'listen --add-header': [['no header', '--forward-to', '3000']],
  'locations --limit': ['0', '101', 'many'],
  'locations --cursor': ['nonsense'],
  'mcp --secret': [''],
  'mcp --service-name': ['Acme Inc.'],
  'openapi --service-name': ['Acme Inc.'],
  'openapi --url': ['localhost:4100'],
  'openapi --as': [['insomnia', '--out', 'requests']],
  'openapi --out': ['', '-'].map((out) => [out, '--as', 'http']),
  'ping ENDPOINT': [''],
  'push FILE': [''],
  'push --id': [
    ['', 'check.json'],
    [long, '-'],
  ],
  'push --sample': ['two-topp'],
  'push --repeat': [['0', 'check.json']],
  'push --shuffle': [['seven', 'check.json']],
  'push --permute': [['0', 'check.json']],
  'push --seed': [['seven', 'check.json', '--permute', '1']],
  'qr TABLE': ['', 'x'.repeat(65)],
  'requests list --finding': ['total_mismatch'],
  'requests list --check': [''],
  'requests list --limit': ['0'],
  'requests list --cursor': ['nonsense'],
  'requests show REQUEST': [''],
  'report --since': ['yesterday', '2'],
  'report --fail-on': ['total_mismatch'],
  'report --junit': ['-', ''],
  'report --bundle': ['-', ''],
  'replay FILE': [''],
  'replay --since': [['yesterday', 'failure.json']],
  'replay --fail-on': [['total_mismatch', 'failure.json']],
  'replay --junit': ['-', ''].map((file) => [file, 'failure.json']),
  'replay --port': ['65536', 'http', '0'].map((port) => [port, 'failure.json']),
  'sign --secret': [['', '--body', '-']],
  'sign --timestamp': [['yesterday', '--secret', 's']],
  'sign --curl': [['localhost:8443', '--secret', 's']],
  'sign --service-name': [['Acme Inc.', '--secret', 's']],
  'skill --write': ['', '-'],
  'start --port': ['many', '65536'],
  'start --host': [''],
  'start --service-name': ['Acme Inc.'],
  'start --keep-events': ['0'],
  'start --disable-after': ['-1'],
  'start --order-by': ['status'],
  'start --seed': ['seven', '7'],
  'start --public-url': ['pos.example', 'https://pos.example/path'],
  'start --rate-limit': ['often'],
  'start --store': ['localhost', 'mysql://user@host/database'],
  'start --sandbox': ['Team A', 'team'],
  'start --store-key': ['short'],
  'start --log': ['xml'],
  'start --clock': ['yesterday'],
  'start --sign-time': ['moon'],
  'tail --type': ['check.creatd'],
  'tail --since': ['yesterday'],
  'trigger EVENT': ['check.creatd'],
  'trigger --check': [
    ['', 'check.created'],
    [long, 'check.created'],
  ],
  'trigger --override': [
    ['nothing', 'check.created'],
    ['covers=2', 'check.created'],
    ['items[0].price_cents=dear', 'check.created'],
  ],
  'verify --secret': [['', '--header', 't=1,v1=0', '--body', '-']],
  'verify --tolerance': [['soon', '--secret', 's', '--header', 't=1,v1=0']],
  'verify --now': [
    ['-5', '--secret', 's', '--header', 't=1,v1=0'],
    ['yesterday', '--secret', 's', '--header', 't=1,v1=0'],
  ],
  'verify --service-name': [['Acme Inc.', '--secret', 's', '--header', 't=1,v1=0']],
  'verify --many': [['-', '--secret', 's']],
  'certs create HOST': ['https://localhost', ''],
  'checks samples NAME': ['two-topp', ''],
  'checks list --status': ['opne'],
  'checks list --limit': ['0'],
  'checks list --cursor': ['nonsense'],
  'checks show CHECK': ['', long],
  'clock advance DURATION': ['40000000d', '5x', '', 'soon', '1.5h'],
  'clock advance --timeout': [
    ['0', '1m'],
    ['soon', '1m'],
  ],
  'clock freeze --timeout': ['0', 'soon'],
  'deliveries export DELIVERY': [''],
  'deliveries export --as': [['wget', 'dlv_1']],
  'deliveries export --secret': [['', 'dlv_1']],
  'deliveries export --service-name': [['Acme Inc.', 'dlv_1']],
  'deliveries list --status': ['lost'],
  'deliveries list --outcome': ['failed'],
  'deliveries list --since': ['yesterday'],
  'deliveries list --type': ['check.creatd'],
  'deliveries list --endpoint': [''],
  'deliveries list --check': [''],
  'deliveries list --limit': ['0'],
  'deliveries list --cursor': ['nonsense'],
  'deliveries resend DELIVERY': [''],
  'deliveries resend --since': [['yesterday', '--dead']],
  'deliveries show DELIVERY': [''],
  'deliveries wait --type': ['check.creatd'],
  'deliveries wait --check': [''],
  'deliveries wait --endpoint': [''],
  'deliveries wait --status': ['lost'],
  'deliveries wait --count': ['0', 'many'],
  'deliveries wait --timeout': ['-1', 'soon'],
  'events list --type': ['check.creatd'],
  'events list --check': [''],
  'events list --limit': ['0'],
  'events list --cursor': ['nonsense'],
  'events show EVENT': [''],
  'faults set FAULT': ['drpo', 'drop=2', 'drop=-1', 'latency', 'latency=2m', 'delay='],
  'faults set --seed': [
    ['seven', 'drop'],
    ['1e400', 'drop'],
    ['99999999999999999999', 'drop'],
  ],
  'faults set --times': [
    ['0', 'drop'],
    ['99999999999999999999', 'drop'],
  ],
  'faults set --type': [['check.creatd', 'drop']],
  'faults set --endpoint': [['', 'drop']],
  'faults set --delay-for': [
    ['soon', 'delay'],
    ['2d', 'delay'],
    ['1m', 'drop'],
  ],
  'faults set --reorder-for': [
    ['soon', 'reorder'],
    ['2d', 'reorder'],
  ],
  'faults set --path': [['checks', 'error']],
  'faults set --status': [['200', 'error']],
  'guests claim CHECK': ['', long],
  'guests claim ITEM': ['line-1=some', 'line-1=0', 'line-1=-1', 'line-1=0.0001'],
  'guests claim --name': [['', 'kept']],
  'guests pay CHECK': [''],
  'guests pay --claim': [
    ['nobody', 'kept'],
    ['', 'kept'],
  ],
  'guests pay --amount': [
    ['much', 'kept'],
    ['-5', 'kept'],
    ['0', 'kept'],
    ['12.505', 'kept'],
    ['much', 'no-such-check'],
  ],
  'guests pay --tip': [
    ['some', 'kept'],
    ['1.505', 'kept'],
  ],
  'guests pay --name': [['', 'kept']],
  'guests play --seed': ['seven', '-1'],
  'guests play --pace': ['fast', '2', ''],
  'guests rate CHECK': [['', '5']],
  'guests rate RATING': ['6', '0', 'good', '4.5', ''],
  'guests rate --comment': [['x'.repeat(1_001), 'kept', '5']],
  'guests rate --name': [
    ['', 'kept', '5'],
    [long, 'kept', '5'],
  ],
  'guests refund PAYMENT': [''],
  'guests refund --amount': [
    ['much', 'pay_1'],
    ['0', 'PAYMENT'],
    ['1.505', 'PAYMENT'],
  ],
  'guests release CLAIM': [''],
  'keys create --name': ['', long],
  'keys create --scopes': ['reed', 'read,reed'],
  'keys create --location': ['nope', ''],
  'keys list --limit': ['0'],
  'keys list --cursor': ['nonsense'],
  'keys revoke KEY': [''],
  'endpoints create URL': [
    'localhost:8443',
    'receiver',
    'http://a.test/webhooks',
    'https://user:password@a.test/',
    'https://169.254.169.254/',
    '',
  ],
  'endpoints create --events': ['check.creatd', 'all,check.creatd', 'check.created,check.created', ''],
  'endpoints create --secret-file': [''],
  'endpoints create --dotenv': [''],
  'endpoints delete ENDPOINT': [''],
  'endpoints list --limit': ['0'],
  'endpoints list --cursor': ['nonsense'],
  'endpoints show ENDPOINT': [''],
  'scenario explore FILE': ['nowhere.json', ''],
  'scenario explore --id': [['', '--sample', 'bar-tab']],
  'scenario explore --sample': ['bar-tap'],
  'scenario explore --receiver': [
    ['ftp://a.test', '--state-url', 'http://localhost:9/', '--secret', `whsec_${'a'.repeat(43)}`],
  ],
  'scenario explore --secret': [
    ['whsec_short', '--receiver', 'localhost:9', '--state-url', 'http://localhost:9/'],
  ],
  'scenario explore --state-url': [['http://localhost:9/', '--secret', 's']],
  'scenario explore --state-header': [
    [
      'no header',
      '--receiver',
      '9',
      '--state-url',
      'http://localhost:9/',
      '--secret',
      `whsec_${'a'.repeat(43)}`,
    ],
  ],
  'scenario explore --service-name': ['Acme Inc.'],
  'scenario explore --order-by': ['status'],
  'scenario explore --runs': ['0', 'many'],
  'scenario explore --seed': ['seven'],
  'scenario run SCENARIO': ['dinner-for-for', ''],
  'scenario run --secret': [['whsec_short', 'walk-out', '--forward-to', '3000']],
  'scenario run --state-url': [['http://localhost:9/{check}', 'walk-out']],
  'scenario run --state-header': [['no header', 'walk-out', '--state-url', 'http://localhost:9/']],
  'scenario run --endpoint': [['', 'walk-out']],
  'scenario run --forward-to': [['ftp://a.test', 'walk-out']],
  'scenario run --timeout': [
    ['86401', 'walk-out'],
    ['0', 'walk-out'],
  ],
  'state load NAME': ['../secrets', ''],
  'state load --timeout': [['0', 'a']],
  'state load --file': [''],
  'state reset --timeout': ['0', '86401'],
  'state save NAME': ['a/b', ''],
  'state save --timeout': [['0', 'a']],
  'state save --file': [''],
}

/** Arguments and flags that accept any text or path. */
const free =
  /--(cacert|allowed-host|allow-http-host|env-file|out|body|request|header|delivery|location|dotenv)$|^(checks list|guests play) --table$|^tail --endpoint$/

/** Further words that make the rest of the command valid. */
const restOf: Record<string, readonly string[]> = {
  'guests rate RATING': [],
  'endpoints create URL': ['--events', 'all'],
  'endpoints create --events': ['https://a.test/'],
  'endpoints create --secret-file': ['https://a.test/', '--events', 'all'],
  'endpoints create --dotenv': ['https://a.test/', '--events', 'all'],
}
const before: Record<string, readonly string[]> = {
  'guests rate RATING': ['kept'],
  'guests claim ITEM': ['kept'],
}

/** Names under which an argument is told where its own says less. */
const toldAs: Record<string, RegExp> = {
  'trigger EVENT': /EVENT must be one of .* got "check\.creatd"\. Did you mean check\.created\?/,
  'faults set FAULT': /Unknown fault "drpo"\. Did you mean drop\?|FAULT must have a (probability|duration) /,
  'exec --faults':
    /Unknown fault "drpo"\. Did you mean drop\?|--faults must (not be empty|have a (probability|duration) )/,
  'push FILE': /FILE must not be empty\./,
  'scenario explore FILE': /Cannot read nowhere\.json: no such file\.|FILE must not be empty\./,
  'scenario run SCENARIO':
    /No such file or built-in scenario: "dinner-for-for"\. Did you mean dinner-for-four\?|SCENARIO must not be empty\./,
  'doctor --receiver': /--receiver must be an http: or https: URL .* got "ftp:\/\/a\.test"\./,
  'listen --forward-to':
    /--forward-to must be an http: or https: URL .* got "ftp:\/\/a\.test"\.|--forward-to must not be empty\./,
  'listen --add-header': /--add-header must be a header such as 'Name: value'\./,
  'scenario run --forward-to': /--forward-to must be an http: or https: URL .* got "ftp:\/\/a\.test"\./,
  'verify --many': /--many: (line 1 must be|the file contains no deliveries)/,
  'verify --secret': /secret/i,
  'sign --secret': /--secret must not be empty\. Pass the signing secret, whsec_….$/m,
  'deliveries export --secret': /--secret must not be empty\. Pass the signing secret/,
  'guests claim ITEM': /ITEM/,
}

let service: RunningService
let payment: string
beforeAll(async () => {
  service = await serve()
  await service.call('PUT', '/v1/checks/external/kept', checkBody())
  payment = (
    (await (await service.call('POST', '/_sim/checks/kept/payments', { amount_cents: 100 })).json()) as {
      id: string
    }
  ).id
  return () => service.stop() as Promise<void>
})

// `exec` takes the flags of `start`, besides those of a shared store and of the log.
for (const [place, values] of Object.entries(wrong))
  if (/^start --(?!store|sandbox|log$)/.test(place)) wrong[place.replace('start', 'exec')] = values
wrong['exec --seed'] = ['seven']
wrong['exec --fail-on'] = [['total_mismatch', '--', 'true']]
wrong['exec --guests'] = ['0', '13', 'many'].map((value) => [value, '--', 'true'])
wrong['exec --guests-seed'] = [['seven', '--', 'true']]
wrong['exec --faults'] = ['drpo', 'drop=2', 'latency=2m', ''].map((value) => [value, '--', 'true'])
wrong['exec --junit'] = ['-', ''].map((file) => [file, '--', 'true'])
wrong['exec --bundle'] = wrong['exec --junit']

/** Outside the soak, one for each place. */
const cases = Object.entries(wrong).flatMap(([place, values]) =>
  values.slice(0, isSoak ? undefined : 1).map((value): [string, string[]] => {
    const [first = '', ...rest] = typeof value === 'string' ? [value] : value
    const more = rest.length > 0 ? rest : (restOf[place] ?? [])
    const [name = '', ...command] = place.split(' ').reverse()
    const words = command.reverse()
    if (name.startsWith('--') && words[0] !== 'exec') return [place, [...words, ...more, `${name}=${first}`]]
    if (name.startsWith('--')) return [place, [...words, `${name}=${first}`, ...more]]
    return [place, [...words, ...(before[place] ?? []), first, ...more]]
  }),
)

describe.concurrent('a command exits with 2 and names the wrong word:', () => {
  test.each(cases)('%s %j', async (place, args) => {
    const words = args.map((word) => (word === 'PAYMENT' ? payment : word))
    const { code, stdout, stderr } = await service.run(words, { input: '{}' })
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.any(String) as string })
    const name = place.split(' ').at(-1) ?? ''
    expect(stderr).toMatch(toldAs[place] ?? new RegExp(`^Error: ${name}(?![\\w-])`))
    expect(stderr).toMatch(/^Error: [^\n]+\n/)
  })
})

test('every argument and flag of every command is in these cases, or accepts any word', () => {
  const manifest = JSON.parse(
    readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8'),
  ) as {
    commands: Record<string, { id: string; args: object; flags: Record<string, { type: string }> }>
  }
  // Files that hold a secret have their tests in hostile/secrets.test.ts.
  const secretFiles = ['api-key-file', 'secret-file', 'store-key-file']
  const connection = ['url', 'profile', 'api-key', 'config', 'data-dir', ...secretFiles]
  const places = Object.values(manifest.commands).flatMap(({ id, args, flags }) => [
    ...Object.keys(args).map((name) => `${id.replaceAll(':', ' ')} ${name.toUpperCase()}`),
    ...Object.entries(flags)
      .filter(([name, { type }]) => type === 'option' && !connection.includes(name))
      .map(([name]) => `${id.replaceAll(':', ' ')} --${name}`),
  ])
  // Judges have messages of their own, and tests of their own.
  const judged = places.filter((place) => !/^(contract|receiver) /.test(place) && !free.test(place))
  expect(judged.filter((place) => !(place in wrong))).toEqual([])
})

test.each([
  [
    ['locations', '--url', 'localhost:4100'],
    '--url must be an http: or https: URL such as http://127.0.0.1:4100, got "localhost:4100".',
  ],
  [['locations', '--url', ''], '--url must not be empty.'],
  [['locations', '--data-dir', ''], '--data-dir must not be empty.'],
  [['locations', '--config', ''], 'Cannot read the settings file : no such file. Correct --config.'],
  [['locations', '--config', 'gone.json'], 'Cannot read the settings file gone.json: no such file.'],
])('%j exits with 2', async (args, message) => {
  const { code, stderr } = await service.run(args)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as string })
})

test.each([
  ['checks', 'show', 'no-such-check'],
  ['deliveries', 'show', 'dlv_1'],
  ['endpoints', 'show', 'we_1'],
  ['endpoints', 'delete', 'we_1'],
  ['events', 'show', 'evt_1'],
  ['ping', 'we_1'],
  ['keys', 'revoke', 'key_1'],
  ['guests', 'release', 'clm_1'],
  ['guests', 'refund', 'pay_1'],
  ['guests', 'rate', 'no-such-check', '5'],
  ['faults', 'set', 'drop', '--endpoint', 'we_1'],
  ['verify', '--secret', 's', '--delivery', 'dlv_1'],
  ['scenario', 'run', 'walk-out', '--endpoint', 'we_1'],
])('a well-formed word that the service does not know exits with 1: %s %s', async (...args) => {
  expect(await service.run(args)).toMatchObject({ code: 1, stdout: '' })
})

test('--json prints the complete error of the service', async () => {
  const { code, stdout } = await service.run(['guests', 'rate', 'kept', '5', '--name', long, '--json'])
  expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
    code: 2,
    error: { code: 'validation_failed', issues: [{ path: 'guest_name' }] },
  })
})
