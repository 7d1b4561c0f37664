import { beforeAll, describe, expect, test } from 'vitest'
import type { Check } from '../../src/model/check.ts'
import type { ClaimView, FeedbackView, PaymentView } from '../../src/model/guests/records.ts'
import { checkBody, serve, spawnTabwire, type RunningService } from '../support/cli.ts'
import { openHttpServer } from '../support/http-server.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

async function pushed(id: string, table = '12'): Promise<string> {
  await service.call('PUT', `/v1/checks/external/${id}`, { ...checkBody(), table: { number: table } })
  return id
}
const got = async <T>(path: string) => (await (await service.call('GET', `/v1/${path}`)).json()) as T
const guests = (...args: string[]) => service.run(['guests', ...args])

describe('tabwire guests', () => {
  test('two guests split a check by claims and pay it', async () => {
    const check = await pushed('split')
    const anna = await guests('claim', check, 'burger=1', 'line-2', '--name', 'Anna')
    expect(anna.stdout).toMatch(
      /^claimed {2}split {2}Anna {2}owes \$24\.25 {2}clm_\w{26}\n {2}1 × Copper Burger {2}\$14\.50 {2}line-1\n {2}1 × Plum Tart {2}\$7\.80 {2}line-2\n$/,
    )
    expect(anna.stderr).toMatch(/^Next: tabwire guests pay split --claim clm_\w{26}\n$/)
    const ben = await guests('claim', check, '--name', 'Ben')
    expect(ben.stdout).toMatch(
      /^claimed {2}split {2}Ben {2}owes \$15\.77 {2}clm_\w{26}\n {2}1 × Copper Burger /,
    )
    expect(ben.stderr).toContain('Claimed everything unclaimed, because no item was given.\n')
    const paid = await guests('pay', check, '--claim', 'anna', '--tip', '2.5', '--name', 'Anna')
    expect(paid.stdout).toMatch(
      /^paid {2}split {2}Anna {2}\$24\.25 {2}tip \$2\.50 {2}pay_\w{26}\n {2}\$15\.77 is left to pay\n$/,
    )
    const rest = await guests('pay', check)
    expect(rest.stdout).toMatch(/^paid {2}split {2}\$15\.77 {2}pay_\w{26}\n {2}the check is fully paid\n$/)
    const empty = await guests('claim', check)
    expect(empty).toMatchObject({ code: 1, stdout: '' })
    expect(empty.stderr).toContain(
      'Error: Check split has no unclaimed items. To see the claims, run: tabwire checks show split',
    )
  })

  test('--json prints the same resource as GET', async () => {
    const check = await pushed('as-json')
    const claim = await service.json<ClaimView>('guests', 'claim', check, 'tart')
    expect(claim).toEqual(await got(`claims/${claim.id}`))
    const released = await service.json<ClaimView>('guests', 'release', claim.id)
    expect(released).toEqual({ ...claim, status: 'released' })
    const payment = await service.json<PaymentView>('guests', 'pay', check, '--amount', '10', '--tip', '50c')
    expect(payment).toMatchObject({ amount_cents: 1000, tip_cents: 50 })
    expect(payment).toEqual(await got(`payments/${payment.id}`))
    const refunded = await service.json<PaymentView>('guests', 'refund', payment.id, '--amount', '2.50')
    expect(refunded).toMatchObject({ status: 'partially_refunded', refunded_cents: 250 })
    expect(await service.json('guests', 'refund', payment.id)).toMatchObject({ refunded_cents: 1000 })
    const feedback = await service.json<FeedbackView>(
      'guests',
      'rate',
      check,
      '5',
      '-c',
      'Lovely',
      '-n',
      'Mia',
    )
    expect(feedback).toMatchObject({ guest_name: 'Mia', rating: 5, comment: 'Lovely' })
    expect(feedback).toEqual(await got(`feedback/${feedback.id}`))
  })

  test('prints releases, refunds and ratings as text', async () => {
    const check = await pushed('in-words')
    const claim = await service.json<ClaimView>('guests', 'claim', check, 'tart')
    expect((await guests('release', claim.id)).stdout).toMatch(
      /^released {2}in-words {2}clm_\w{26}\n {2}1 × Plum Tart {2}\$7\.80 {2}line-2\n$/,
    )
    const { id } = await service.json<PaymentView>('guests', 'pay', check)
    expect((await guests('refund', id, '--amount', '0.02')).stdout).toBe(
      `partly refunded  in-words  $40.02  refunded $0.02  ${id}\n  $0.02 is left to pay\n`,
    )
    expect((await guests('refund', id)).stdout).toContain(
      `refunded  in-words  $40.02  refunded $40.02  ${id}\n`,
    )
    expect((await guests('rate', check, '4', '--comment', 'Nice\u001b[2J')).stdout).toMatch(
      /^rated {2}in-words {2}★★★★☆ {2}fbk_\w{26}\n {2}Nice\u241b\[2J\n$/,
    )
  })

  test.each([
    ['every request to /v1 gets an injected error', []],
    ['the key has the scope simulate alone', ['--scopes', 'simulate']],
  ])('release, pay and refund succeed when %s', async (_why, scopes) => {
    const own = await serve()
    await own.call('PUT', '/v1/checks/external/dinner', checkBody())
    const claim = await own.json<ClaimView>('guests', 'claim', 'dinner', 'tart')
    const { api_key } = await own.json<{ api_key: string }>('keys', 'create', ...scopes)
    if (scopes.length === 0) await own.json('faults', 'set', 'error')
    const act = async (...args: string[]) => {
      const ended = await own.run(['guests', ...args, '--api-key', api_key])
      expect(ended).toMatchObject({ code: 0 })
      return ended.stdout
    }
    expect(await act('release', claim.id)).toMatch(/^released {2}dinner {2}clm_\w{26}\n {2}1 × Plum Tart /)
    const paid = await act('pay', 'dinner')
    expect(paid).toMatch(/^paid {2}dinner {2}\$40\.02 {2}pay_\w{26}\n {2}the check is fully paid\n$/)
    const [payment = ''] = /pay_\w{26}/.exec(paid) ?? []
    expect(await act('refund', payment)).toMatch(/^refunded {2}dinner .*\n {2}\$40\.02 is left to pay\n$/)
    await own.stop()
  })

  test.each([
    ['not_found', ['claim', 'nowhere']],
    ['not_claimable', ['claim', 'refused', 'burger=3']],
    ['exceeds_balance', ['pay', 'refused', '--amount', '40.03']],
    ['not_found', ['refund', 'pay_nobody', '--amount', '1']],
  ])('exits with 1 and the code %s for %j, and changes nothing', async (code, args) => {
    await pushed('refused')
    const before = await got<Check>('checks/external/refused')
    const ended = await guests(...args, '--json')
    expect(ended.code).toBe(1)
    expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code } })
    expect(await got('checks/external/refused')).toEqual(before)
  })

  test.each([
    [['claim', 'usage', 'soup'], /ITEM must match an item of check usage, got "soup"/],
    [['claim', 'usage', 'burger=x'], /ITEM=QUANTITY must have a quantity above 0, .* got "burger=x"/],
    [
      ['pay', 'usage', '--claim', 'Zoe'],
      /--claim must be a claim id or a guest with an active claim, got "Zoe"\. This check has no active claims\./,
    ],
    [['pay', 'usage', '--amount', 'lots'], /--amount must be an amount such as 12\.50, .* got "lots"/],
    [
      ['pay', 'usage', '--amount', '1.505'],
      /--amount must be an amount in USD such as 12\.50, .* got "1\.505"/,
    ],
    [['claim', 'usage', 'burger=0.0001'], /ITEM=QUANTITY /],
    [['rate', 'usage', '6'], /RATING must be a whole number from 1 to 5 \(best\), got "6"/],
    [['pay', 'usage', '--amount', '1', '--claim', 'clm_1'], /--claim/],
    [['rate', 'usage', 'good'], /RATING must be a whole number from 1 to 5 \(best\), got "good"/],
    [['refund'], /PAYMENT is missing: /],
  ])('exits with 2 for %j', async (args, message) => {
    await pushed('usage')
    const ended = await guests(...args)
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(message)
  })

  test('play pays every open check with --until-paid, and prints the actions and the sums', async () => {
    const check = await pushed('played', '98')
    const first = await guests('play', '--until-paid', '--pace', '0s', '--table', '98', '--seed', '3')
    expect(first.code).toBe(0)
    expect(first.stdout).toMatch(/^played {2}\w+ {2}(claims [\d.]+ × .+ {2}\$|pays \$)/)
    expect(first.stderr).toMatch(
      /^\d guests? at 1 check: \d+ claims?, \d payments?, .*\nPaid \$40\.02, tips \$/,
    )
    expect(await got<Check>(`checks/external/${check}`)).toMatchObject({ paid_cents: 4002, balance_cents: 0 })
    const again = await guests('play', '--until-paid', '--table', '98')
    expect(again).toMatchObject({ code: 0, stdout: '', stderr: 'No open check has a balance.\n' })
  })

  test.skipIf(process.platform === 'win32')(
    'play --json prints one action per line and the sums last, and exits with 130 on Ctrl-C',
    async () => {
      const check = await pushed('played-json', '99')
      const play = await spawnTabwire(['guests', 'play', '--table', '99', '--pace', '0s', '--json'], {
        cwd: service.cwd,
      })
      await expect
        .poll(async () => (await got<Check>(`checks/external/${check}`)).balance_cents, { timeout: 20_000 })
        .toBe(0)
      play.child.kill('SIGINT')
      const { code, stdout, stderr } = await play.ended
      expect({ code, stderr }).toEqual({ code: 130, stderr: '' })
      const acts = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { number: number; external_check_id: string })
      expect(acts.pop()).toMatchObject({ type: 'report', checks: 1, paid_cents: 4002, stuck: [] })
      expect(acts.map(({ number }) => number)).toEqual(acts.map((_, at) => at + 1))
      expect(new Set(acts.map((act) => act.external_check_id))).toEqual(new Set([check]))
    },
  )

  test.skipIf(process.platform === 'win32')(
    'play --until-paid exits with 130 on Ctrl-C, also when a check cannot be paid',
    async () => {
      await Promise.all([pushed('refusing', '97'), pushed('declining', '97')])
      const { url } = await openHttpServer((request, response) => {
        const { method = '', url = '' } = request
        response.setHeader('X-Request-Id', 'req_1')
        const [, check = ''] = /^\/_sim\/checks\/(\w+)\//.exec(url) ?? []
        const [status, code] = check === 'refusing' ? [409, 'conflict'] : [402, 'card_declined']
        if (method === 'POST' && check !== '')
          response.writeHead(status).end(JSON.stringify({ error: { code, message: 'No.' } }))
        else void service.call(method, url).then(async (answer) => response.end(await answer.text()))
      })
      const words = ['--until-paid', '--table', '97', '--pace', '10ms', '--json']
      const play = await spawnTabwire(['guests', 'play', ...words, '--url', url, '--api-key', service.key])
      await play.until('stdout', /"number":20,/)
      play.child.kill('SIGINT')
      const { code, stdout } = await play.ended
      const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as object
      expect(report).toMatchObject({ type: 'report', stuck: ['refusing'] })
      expect(code).toBe(130)
    },
  )
})
