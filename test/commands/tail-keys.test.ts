import { chmod, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../soak/seeded.ts'
import { checkBody, emptyDirectory, serve, type RunningService } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'

const SHOW_CURSOR = '\u001b[?25h'

let service: RunningService
beforeAll(async () => {
  service = await serve({ allowHttpLoopback: true })
  const receivers = [await startReceiver(), await startReceiver({ answer: 503 })]
  const types = ['check.created', 'check.closed']
  for (const [index, { url }] of receivers.entries())
    await service.call('POST', '/v1/webhook-endpoints', { url, event_types: [types[index]] })
  await push('supper')
  return async () => {
    await service.stop()
    await Promise.all(receivers.map((receiver) => receiver.close()))
  }
})

const push = (id: string, changes = {}) =>
  service.call('PUT', `/v1/checks/external/${id}`, checkBody(changes))

/** A directory with a command of every name by which a browser is opened: it writes down what it was given. */
async function fakeBrowser(): Promise<{ PATH: string; opened: string }> {
  const directory = await emptyDirectory()
  const opened = join(directory, 'opened')
  for (const name of ['open', 'xdg-open']) {
    await writeFile(join(directory, name), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`)
    await chmod(join(directory, name), 0o755)
  }
  return { PATH: `${directory}${delimiter}${process.env.PATH ?? ''}`, opened }
}

describe.runIf(hasTerminals).concurrent(`tabwire tail ${onTerminal}`, () => {
  test('pauses, filters, resends, opens the inspector and quits by keys, and restores the terminal', async () => {
    const { PATH, opened } = await fakeBrowser()
    const tail = await tabwireOnTerminal(['tail', '--type', 'check.created'], {
      cwd: service.cwd,
      env: { PATH },
    })
    await tail.shows(
      /Listening for deliveries\. Press q to stop\.[^]*LIVE {3}0 shown · p pause · f failures · o open/,
    )
    await push('lunch')
    await tail.shows(
      /✓ \d\d:\d\d:\d\d {2}check\.created {6}lunch {15}200 +[\d.]+ ms {2}→ :\d+\r\n[^]*1 shown/,
    )

    tail.type('p')
    await tail.shows(/PAUSED {3}0 waiting/)
    await push('dinner')
    expect(await tail.shows(/PAUSED {3}1 waiting/)).not.toMatch(/✓.*dinner/)
    tail.type('p')
    await tail.shows(/✓ .*dinner[^]*LIVE {3}2 shown/)

    tail.type('r')
    await tail.shows(/✓ Resent check\.created to we_\w+ as\s+dlv_\w+[^]*✓ .*dinner[^]*LIVE {3}3 shown/)
    // Of the three that were shown the first is the oldest.
    tail.type('kk')
    tail.type('r')
    await tail.shows(/Resent check[^]*Resent check[^]*✓ .*lunch[^]*LIVE {3}4 shown/)

    tail.type('f')
    await tail.shows(/failures only · p pause · f all .*· q quit/)
    tail.type('?')
    await tail.shows(/p +pause or resume; new lines wait/)
    tail.type('o')
    await tail.shows(/Opened the inspector\./)
    const page = await readFile(opened, 'utf8')
    expect(page).toMatch(/open\.html$/)
    expect(await readFile(page, 'utf8')).toMatch(new RegExp(`"0;url=${service.url}/#link=[\\w-]{22}"`))

    tail.type('q')
    expect(await tail.left()).toEqual({ code: 0, restored: true })
    expect((await tail.ended).stdout.endsWith(SHOW_CURSOR)).toBe(true)
  })

  test('shows the reason and the next attempt of failures within the width, and exits with 130 on Ctrl-C', async () => {
    const tail = await tabwireOnTerminal(['tail', '--failed'], { cwd: service.cwd, columns: 72 })
    await tail.shows(/Listening[^]*failures only/)
    await push('supper', { status: 'closed' })
    const shown = await tail.shows(/dlv_\w{26}/)
    expect(shown).not.toMatch(/✓/)
    expect(shown).toMatch(
      /✗ [\d:]{8} {2}check\.closed {7}supper {6}503 +[\d.]+ ms {2}attempt 1\r\n {4}→ :\d+\r\n {4}The receiver returned 503\. [^\r]+\r\n/,
    )
    for (const line of shown.split('\r\n')) expect(line.length).toBeLessThanOrEqual(72)
    tail.type('\u0003')
    expect(await tail.left()).toEqual({ code: 130, restored: true })
    expect((await tail.ended).stdout.endsWith(SHOW_CURSOR)).toBe(true)
  })

  test('restores the terminal when no service answers, and prints the error on its own line', async () => {
    const tail = await tabwireOnTerminal(['tail', '--url', 'http://127.0.0.1:9'])
    expect(await tail.left()).toEqual({ code: 1, restored: true })
    expect((await tail.ended).stdout).toMatch(/\u001b\[\?25h.*Error:/s)
  })

  const plain: [string, string[], Record<string, string>][] = [
    ['TERM=dumb', [], { TERM: 'dumb' }],
    ['--no-keys', ['--no-keys'], {}],
    ['--json', ['--json'], {}],
  ]
  test.each(sampled(plain, 3))('prints plain lines with %s', async (_what, args, env) => {
    const tail = await tabwireOnTerminal(['tail', ...args], {
      cwd: service.cwd,
      env: { NO_COLOR: '1', ...env },
    })
    await tail.shows(/Listening for deliveries\. Press Ctrl-C to stop\./)
    tail.type('\u0003')
    expect(await tail.left()).toEqual({ code: 130, restored: true })
    expect((await tail.ended).stdout).not.toContain('\u001b')
  })
})
