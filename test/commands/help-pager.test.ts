import { describe, expect, test } from 'vitest'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'

describe.runIf(hasTerminals)(`tabwire help GUIDE ${onTerminal}`, () => {
  test('leaves Ctrl-C to the pager, which often continues', async () => {
    // `less` ends a search at Ctrl-C, and does not end itself.
    const PAGER =
      'trap \'echo interrupted; got=1\' INT; echo paging; while [ -z "$got" ]; do sleep 0.05; done; echo the end #'
    const help = await tabwireOnTerminal(['help', 'webhooks'], { env: { PAGER } })
    await help.shows(/paging/)
    help.type('\u0003')
    await help.shows(/interrupted\r\n[^]*the end/)
    expect(await help.left()).toEqual({ code: 0, restored: true })
  })
})
