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
  ])('%j ends with 2 and what was probably meant, for programs too', async (words, message) => {
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

  test('of a command is the same before and after it', async () => {
    const [before, after] = await Promise.all([
      tabwire(['help', 'deliveries', 'wait']),
      tabwire(['deliveries', 'wait', '--help']),
    ])
    expect(before).toEqual(after)
    expect(before).toMatchObject({ code: 0, stderr: '' })
    expect(before.stdout).toContain('$ tabwire deliveries wait ')
  })

  test('of an unknown command ends as the command would', async () => {
    const { code, stderr } = await tabwire(['help', 'psh'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'Error: Unknown command "psh". Did you mean `tabwire help push`?\n',
    })
  })

  test.each([[['--help']], [['help']]])('of everything is shown by tabwire %j', async (words) => {
    const { code, stdout } = await tabwire(words)
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nSERVICE\n[^]*\nWEBHOOKS\n[^]* {2}tail {2,}Show deliveries/)
  })

  test('--version tells the version', async () => {
    expect((await tabwire(['--version'])).stdout).toMatch(/^tabwire\/\d+\.\d+\.\d+ /)
  })
})
