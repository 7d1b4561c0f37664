import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Check } from '../../src/model/check.ts'
import {
  checkBody,
  emptyDirectory,
  fixtures,
  spawnTabwire,
  serve,
  type RunningService,
} from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

const barTab = readdirSync(join(fixtures, 'checks', 'bar-tab'))
  .sort()
  .map((name) => join(fixtures, 'checks', 'bar-tab', name))

/** A directory with these checks, each in a file, whose service is found by the environment. */
async function folder(checks: Record<string, unknown>) {
  const cwd = await emptyDirectory()
  for (const [name, check] of Object.entries(checks)) await writeFile(join(cwd, name), JSON.stringify(check))
  return { cwd, env: { TABWIRE_URL: service.url, TABWIRE_API_KEY: service.key } }
}

describe.concurrent('tabwire push of several files', () => {
  test('pushes in order, and prints a line of JSON for each', async () => {
    const { code, stdout } = await service.run(['push', ...barTab, '--id', 'in-order', '--json'])
    expect(code).toBe(0)
    const counts = lines<Check>(stdout).map((check) => check.items.length)
    expect(counts).toEqual([1, 1, 3, 4, 6, 7])
  })

  test('pushes in the typed order when a file is typed twice', async () => {
    const table = (number: string) => checkBody({ table: { number } })
    const options = await folder({ 'a.json': table('1'), 'b.json': table('2') })
    const args = ['push', 'a.json', 'b.json', 'a.json', '--id', 'typed-twice', '--json']
    const { stdout } = await service.run(args, options)
    expect(lines<Check>(stdout).map((check) => check.table.number)).toEqual(['1', '2', '1'])
  })

  test('takes each id from the file name, and stops at the first refused file, which it names', async () => {
    const options = await folder({ 'one.json': checkBody(), 'two.json': {}, 'three.json': checkBody() })
    const { code, stdout, stderr } = await service.run(
      ['push', './one.json', 'two.json', 'three.json'],
      options,
    )
    expect(code).toBe(1)
    expect(stdout).toMatch(/^created {2}one {2}/)
    expect(stdout).not.toContain('three')
    expect(stderr).toMatch(
      /^Stopped at two\.json\. Nothing was pushed after it:\nError: 422 validation_failed: the body is not valid\.\n {2}table is required\n/,
    )
  })

  test('names the element of an array that is refused', async () => {
    const options = await folder({ 'night.json': [checkBody(), {}, checkBody()], 'one.json': [{}] })
    const ofThree = await service.run(['push', 'night.json'], options)
    expect(ofThree.stderr).toMatch(/^Stopped at element 2 of night\.json\. Nothing was pushed after it:\n/)
    const ofOne = await service.run(['push', 'one.json', 'night.json'], options)
    expect(ofOne.stderr).toMatch(/^Stopped at one\.json\. /)
  })

  test('reads files that begin with a byte-order mark, as editors of Windows write them', async () => {
    const options = await folder({})
    const bodies = { 'marked.json': checkBody(), 'marks.json': [checkBody(), checkBody()] }
    for (const [name, body] of Object.entries(bodies))
      await writeFile(join(options.cwd, name), `\ufeff${JSON.stringify(body)}`)
    const pushed = await service.run(['push', ...Object.keys(bodies)], options)
    expect(pushed).toMatchObject({ code: 0, stderr: '' })
    expect(pushed.stdout.match(/^(created|unchanged) /gm)).toHaveLength(3)
  })

  test('pushes nothing when one of the files cannot be read, and names it', async () => {
    const options = await folder({ 'read.json': checkBody() })
    const pushed = await service.run(['push', 'read.json', 'gone.json'], options)
    expect(pushed).toMatchObject({ code: 2, stdout: '' })
    expect(pushed.stderr).toMatch(/^Error: Cannot read gone\.json: .*\.\n$/)
    expect(await service.run(['checks', 'show', 'read'], options)).toMatchObject({ code: 1 })
  })

  test('--repeat and --shuffle repeat for a seed, and pushes with revisions converge in any order', async () => {
    const checks = Object.fromEntries(
      [1, 2, 3, 4, 5, 6].map((revision) => [
        `${revision}.json`,
        checkBody({ revision, table: { number: `${revision}` } }),
      ]),
    )
    const options = await folder(checks)
    const shuffled = async (id: string, seed: string) => {
      const args = ['push', ...Object.keys(checks), '--id', id, '--shuffle', seed, '--repeat', '2']
      const { stdout } = await service.run(args, options)
      return stdout
        .replaceAll(` ${id} `, ' ')
        .split('\n')
        .filter((line) => /^\w/.test(line))
    }
    const [one, same, other] = await Promise.all([shuffled('a', '7'), shuffled('b', '7'), shuffled('c', '8')])
    expect(one).toHaveLength(12)
    expect(same).toEqual(one)
    expect(other).not.toEqual(one)
    for (const order of [one, other]) expect(order.at(-1)).toContain('table 6')
  })

  test.skipIf(process.platform === 'win32')(
    '--watch pushes a changed file again, reports an invalid one, and exits with 130',
    async () => {
      const { cwd, env } = await folder({ 'watched.json': checkBody() })
      const watch = await spawnTabwire(['push', './watched.json', '--watch'], { cwd, env })
      await watch.until('stderr', /Watching for changes\. Press Ctrl-C to stop\.\n/)
      const change = (content: string) => writeFile(join(cwd, 'watched.json'), content)
      await change('{')
      await watch.until('stderr', /Error: 400 invalid_json: The body is not valid JSON/)
      await change(JSON.stringify([checkBody(), {}]))
      await watch.until('stderr', /\nNot pushed: element 2 of \.\/watched\.json\.\nError: 422 /)
      await change(JSON.stringify(checkBody({ table: { number: '14' } })))
      expect(await watch.until('stdout', /updated/)).toMatch(/updated {2}watched {2}table 14 /)
      watch.child.kill('SIGINT')
      expect(await watch.ended).toMatchObject({ code: 130 })
    },
  )

  test('--watch pushes to the service that was started again with another key', async () => {
    const { cwd } = await folder({ 'watched.json': checkBody() })
    const before = await serve({ cwd })
    const watch = await spawnTabwire(['push', 'watched.json', '--watch'], { cwd })
    await watch.until('stderr', /Watching for changes/)
    await before.stop()
    const after = await serve({ cwd })
    await writeFile(join(cwd, 'watched.json'), JSON.stringify(checkBody({ table: { number: '14' } })))
    expect(await watch.until('stdout', /table 14/)).toMatch(/\ncreated {2}watched {2}table 14 /)
    watch.child.kill('SIGINT')
    await watch.ended
    await after.stop()
  })

  test.each([
    [['-', '--id', 'x'], '--watch cannot watch standard input. Pass files.'],
    [['a.json', '--repeat', '2'], '--watch'],
  ])('--watch exits with 2 for %j', async (args, message) => {
    const { code, stderr } = await service.run(['push', '--watch', ...args])
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

function lines<T>(text: string): T[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}
