import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Reported } from '../../src/cli/report.ts'
import { emptyDirectory, fixtures, tabwire } from '../support/cli.ts'
import { isSoak, sampled } from './seeded.ts'

/** The example POS of the package, which books, refunds and closes correctly. */
const source = readFileSync(join(fixtures, 'pos/pos.mjs'), 'utf8')

/** Runs a POS in `exec` with guests; returns the report with its account. */
async function run(program: string, flags: readonly string[], env: Record<string, string> = {}) {
  const cwd = await emptyDirectory()
  await writeFile(join(cwd, 'pos.mjs'), program)
  const words = ['exec', '--json', '--allow-http-loopback', '--guests', '4', '--all-closed', ...flags]
  const { code, stdout, stderr } = await tabwire([...words, '--', process.execPath, 'pos.mjs'], {
    cwd,
    env: { POS_DAY: '2026-11-23', ...env },
  })
  const report = JSON.parse(stderr.slice(stderr.indexOf('{"'))) as Reported
  const { findings, account } = report
  if (account === undefined) throw new Error(`The report has no account: ${stderr}`)
  const codes = new Set([...findings, ...account.problems].map((one) => one.code))
  return { code, stdout, account, codes: [...codes] }
}

const faults = 'duplicate=0.2,reorder=0.2,delay=0.1,drop=0.1,error=0.1,reset=0.1,lost_answer=0.1'
const seeds = Array.from({ length: isSoak ? 20 : 1 }, (_, at) => at + 1)

describe('the example POS', () => {
  test.each(seeds)(
    'gets no finding with the seed %i and faults on deliveries and the API',
    { timeout: 60_000 },
    async (seed) => {
      const flags = ['--guests-seed', String(seed), '--faults', faults, '--fail-on', 'any']
      const { code, stdout, account, codes } = await run(source, flags)
      expect({ code, stdout, codes }).toEqual({ code: 0, stdout: '8 checks closed\n', codes: [] })
      const { sums } = account
      expect(sums).toMatchObject({ owed_cents: 0, paid_elsewhere_cents: 0, overpaid_cents: 0 })
      expect(sums.paid_cents - sums.refunded_cents).toBe(sums.pushed_cents)
      expect(sums.paid_cents).toBeGreaterThan(30_000)
    },
  )
})

type Changes = readonly (readonly [from: string, to: string])[]

function changed(changes: Changes): string {
  let program = source
  for (const [from, to] of changes) {
    expect(program).toContain(from)
    program = program.replace(from, () => to)
  }
  return program
}

/** Guests who get a cent back on every closed check: by themselves, few guests ask for a refund. */
const refunds: Changes = [
  [
    '    while (!isDone(bill) && waited() < giveUpMs) await sleep(20)\n',
    `    while (!isDone(bill) && waited() < giveUpMs) await sleep(20)
    const [payment] = (await call('GET', \`/payments?external_check_id=\${bill.id}\`)).answer.data
    await fetch(\`\${process.env.TABWIRE_URL}/_sim/payments/\${payment.id}/refunds\`, {
      method: 'POST',
      headers: { authorization: \`Bearer \${key}\`, 'content-type': 'application/json' },
      body: '{"amount_cents":1}',
    })
`,
  ],
]

/** A mistake: what it is called, the replaced texts of the POS, and the code that names it. */
interface Mistake {
  name: string
  changes: Changes
  code: string
  faults?: string
  seatings?: string
}

const mistakes: readonly Mistake[] = [
  {
    name: 'never closes',
    changes: [["  bill.status = 'closed'\n", '  return false\n']],
    code: 'check_left_open',
  },
  {
    name: 'books a payment a second time, as a negative line',
    changes: [
      [
        "'payment.succeeded': (bill, { id }) => {\n",
        "'payment.succeeded': (bill, { id, amount_cents }) => {\n    void change(bill, (one) => void (one.items = [...one.items, line('Paid', 1, -amount_cents)]))\n",
      ],
    ],
    code: 'overpaid',
  },
  {
    name: 'ignores refunds',
    changes: [
      ...refunds,
      ["'payment.refunded': (bill,", "'payment.refunded': () => undefined,\n  ignored: (bill,"],
    ],
    code: 'refund_not_settled',
  },
  {
    name: 'forgets deduplication',
    changes: [
      ...refunds,

      ['  if (seen.has(id)) return\n', ''],
      ['refunded_cents - (payments.get(id) ?? 0)', 'refunded_cents'],
      ['Math.min(more, answer.balance_cents)', 'more'],
    ],
    code: 'overpaid',
    faults: 'duplicate',
  },
  {
    name: 'reuses ids',
    changes: [['`${day}-table-${table}-${seating}`', '`table-${table}`']],
    code: 'check_id_reused',
    seatings: '2',
  },
  {
    name: 'drops the 409',
    changes: [['    if (await push(bill)) return\n', '    await push(bill)\n    return\n']],
    code: 'conflict_not_settled',
  },
  {
    name: 'takes cents for dollars',
    changes: [
      [
        '  const { items, status } = bill\n',
        "  const factor = bill.status === 'closed' ? 100 : 1\n  const { status } = bill\n  const items = bill.items.map((item) => ({ ...item, price_cents: item.price_cents * factor }))\n",
      ],
    ],
    code: 'unit_change',
  },
  {
    name: 'merges lines',
    changes: [
      [
        "[...one.items, line('Cake')]",
        "[one.items[0], one.items[1], { ...one.items[2], quantity: 2 }, line('Cake')]",
      ],
    ],
    code: 'lines_merged',
  },
]

/** Short, and without a second party where no mistake needs one. */
const short = { POS_SEATINGS: '1', POS_QUIET_MS: '700', POS_GIVE_UP_MS: '2000' }

describe('a POS that', () => {
  test('subtracts refunds on every check gets no finding', { timeout: 60_000 }, async () => {
    const { codes, account } = await run(changed(refunds), ['--faults', 'duplicate'], short)
    expect(codes).toEqual([])
    expect(account.checks.filter(({ refunded_cents }) => refunded_cents > 0)).toHaveLength(4)
  })

  test.each(sampled(mistakes, 2))(
    '$name gets the finding $code',
    { timeout: 60_000 },
    async ({ changes, code, faults: words, seatings = '1' }) => {
      const flags = words === undefined ? [] : ['--faults', words]
      const env = { ...short, POS_SEATINGS: seatings }
      const found = await run(changed(changes), ['--fail-on', code, ...flags], env)
      expect(found.codes).toContain(code)
      expect(found.account.problems.map((problem) => problem.code)).toContain(code)
    },
  )
})
