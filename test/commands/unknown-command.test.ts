import { describe, expect, test } from 'vitest'
import { tabwire } from '../support/cli.ts'

const lists = 'Run `tabwire --help`.'

describe.concurrent('an unknown command', () => {
  test.each([
    [['nonsense'], `Unknown command "nonsense". ${lists}`],
    [['psuh', 'a.json'], 'Unknown command "psuh a.json". Did you mean `tabwire push`?'],
    [['delivery', 'list'], 'Unknown command "delivery list". Did you mean `tabwire deliveries list`?'],
    [['clock', 'advanc', '3h'], 'Unknown command "clock advanc 3h". Did you mean `tabwire clock advance`?'],
    [
      ['endpoints', 'add', 'https://x:1/y'],
      'Unknown command "endpoints add https://x:1/y". Run `tabwire endpoints --help`.',
    ],
    [['endpoint'], 'Unknown command "endpoint". Did you mean `tabwire endpoints`?'],
    [['strat', '--help'], 'Unknown command "strat". Did you mean `tabwire start`?'],
    [['receiver', 'test', '--help'], 'Unknown command "receiver test". Run `tabwire receiver --help`.'],
    [['pay', 'table-12'], 'Unknown command "pay table-12". Did you mean `tabwire guests pay`?'],
    [['checks', 'push'], 'Unknown command "checks push". Did you mean `tabwire push`?'],
    [['checks', 'delete'], 'Unknown command "checks delete". Run `tabwire checks --help`.'],
    [['version'], 'Unknown command "version". Did you mean `tabwire --version`?'],
    [['stop'], 'Unknown command "stop". Press Ctrl-C in the terminal of `tabwire start`.'],
    [['status'], 'Unknown command "status". Did you mean `tabwire doctor`?'],
    [['logs'], 'Unknown command "logs". Did you mean `tabwire requests list`?'],
    [['retry'], 'Unknown command "retry". Did you mean `tabwire deliveries resend`?'],
    [
      ['listen', 'localhost:3000'],
      'Unexpected argument for `tabwire listen`: localhost:3000. Pass the URL with --forward-to. Run `tabwire listen --help`.',
    ],
    [['psuh', '--api-key', 'twk_secret'], 'Unknown command "psuh". Did you mean `tabwire push`?'],
    [['--verison'], `Unknown flag --verison. Did you mean --version? ${lists}`],
    [
      ['--api-key', 'twk_secret', 'push'],
      `COMMAND is missing before the flag --api-key. Write flags after the command. ${lists}`,
    ],
    [
      ['--api-key=twk_secret', 'push'],
      `COMMAND is missing before the flag --api-key. Write flags after the command. ${lists}`,
    ],
  ])('%j exits with 2 and suggests a command, also with --json', async (words, message) => {
    expect(await tabwire(words)).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `Error: ${message}\n`,
    })
    const { code, stdout, stderr } = await tabwire([...words, '--json'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({ error: { code: 'usage', message } })
  })
})

describe.concurrent('help', () => {
  test.each([[['clock']], [['help', 'clock']], [['clock', '--help']]])(
    'of a topic lists its commands: tabwire %j',
    async (words) => {
      const { code, stdout } = await tabwire(words)
      expect(code).toBe(0)
      expect(stdout).toMatch(/\$ tabwire clock COMMAND\n[^]*\n {2}clock advance {2}/)
    },
  )

  test('of a command is the same with help before it and --help after it', async () => {
    const [before, after] = await Promise.all([
      tabwire(['help', 'deliveries', 'wait']),
      tabwire(['deliveries', 'wait', '--help']),
    ])
    expect(before).toEqual(after)
    expect(before).toMatchObject({ code: 0, stderr: '' })
    expect(before.stdout).toContain('$ tabwire deliveries wait ')
  })

  test('of an unknown command exits with 2 and a suggestion', async () => {
    const { code, stderr } = await tabwire(['help', 'psh'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'Error: Unknown command "psh". Did you mean `tabwire help push`?\n',
    })
  })

  test.each([[['--help']], [['help']]])('of the program is printed by tabwire %j', async (words) => {
    const { code, stdout } = await tabwire(words)
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nSERVICE\n[^]*\nWEBHOOKS\n[^]* {2}tail {2,}Show deliveries/)
  })

  test.each([['--version'], ['-v']])('%s prints the version', async (flag) => {
    expect((await tabwire([flag])).stdout).toMatch(/^tabwire\/\d+\.\d+\.\d+ /)
  })

  test.each([[[]], [['clock']], [['push']]])('-h after %j is the same as --help', async (words) => {
    const [short, long] = await Promise.all([tabwire([...words, '-h']), tabwire([...words, '--help'])])
    expect(short).toMatchObject({ code: 0, stderr: '' })
    expect(short).toEqual(long)
  })
})
