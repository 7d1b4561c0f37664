import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import {
  duplicateCheck,
  findingsOf,
  findingsWithHistory,
  paidNotClosed,
  type PushFindingCode,
  type PushSeen,
} from '../../src/findings/index.ts'
import { contentOf, type Check, type Push, type PushedItem } from '../../src/model/check.ts'

const soup = item('1', 'Soup', 900)
const bread = item('2', 'Bread', 300)
const wine = item('3', 'Wine', 1200)

/** A push that adds up, with tax on top. */
function push(change: Partial<Push> = {}): Push {
  const items = change.items ?? [soup, bread]
  const sum = items.reduce((total, { quantity, price_cents }) => total + quantity * price_cents, 0)
  const totals = { subtotal_cents: sum, tax_cents: 100, total_cents: sum + 100 }
  return { table: { number: '12' }, status: 'open', items, totals, ...change }
}

const revised = (revision: number, change: Partial<Push> = {}) => push({ revision, ...change })
const totals = (subtotal_cents: number, tax_cents: number, total_cents: number) =>
  push({ totals: { subtotal_cents, tax_cents, total_cents } })

function untaxed(items: PushedItem[]): Push {
  const sum = items.reduce((total, { quantity, price_cents }) => total + quantity * price_cents, 0)
  return push({ items, totals: { subtotal_cents: sum, tax_cents: 0, total_cents: sum } })
}

interface Case {
  when: string
  push: Push
  before?: Push
  outcome?: PushSeen['outcome']
  earlier?: Push[]
  /** The push comes an hour after the state before it, otherwise a millisecond earlier. */
  late?: boolean
  /** Paid cents of the check before the push. */
  paid?: number
  body?: unknown
}

const cases: Record<PushFindingCode, { shown: Case[]; notShown: Case[] }> = {
  totals_mismatch: {
    shown: [
      { when: 'the lines come to neither subtotal nor total', push: totals(1000, 100, 1100) },
      { when: 'they are off by a cent', push: totals(1201, 100, 1301) },
      { when: 'subtotal and tax do not make the total', push: totals(1200, 100, 1299) },
      { when: 'a service charge is in the total alone', push: totals(1200, 100, 1516) },
      { when: 'a discount is in the total alone', push: totals(1200, 100, 1100) },
      { when: 'the net subtotal has another tax', push: totals(1000, 100, 1200) },
      { when: 'there are totals but no lines', push: { ...totals(1200, 100, 1300), items: [] } },
      { when: 'half of an item is off by three cents', push: part(0.5, 5003) },
      { when: 'a third is off by more than its rounding', push: part(0.333, 3336) },
    ],
    notShown: [
      { when: 'tax is on top', push: totals(1200, 100, 1300) },
      { when: 'tax is included, in a gross subtotal', push: totals(1200, 200, 1200) },
      { when: 'tax is included, above a net subtotal', push: totals(1000, 200, 1200) },
      { when: 'there is no tax', push: totals(1200, 0, 1200) },
      { when: 'nothing is on the check', push: { ...totals(0, 0, 0), items: [] } },
      { when: 'a discount is a line', push: push({ items: [soup, item('d', 'Happy hour', -450)] }) },
      { when: 'a third is 0.333', push: third(3000) },
      { when: 'a third of a high price is 0.333', push: third(10_000) },
      { when: 'a third is off by no more than its rounding', push: part(0.333, 3335) },
      {
        when: 'a third of a discount is 0.333',
        push: {
          ...totals(200, 0, 200),
          items: [wine, { ...item('d', 'Happy hour', -3000), quantity: 0.333 }],
        },
      },
      { when: 'a weighed line is rounded down', push: weighed(1332) },
      { when: 'a weighed line is rounded up', push: weighed(1333) },
      {
        when: 'thirds blur in binary',
        push: push({
          items: [
            { ...soup, quantity: 0.1 },
            { ...bread, quantity: 0.2 },
          ],
        }),
      },
    ],
  },
  unknown_field: {
    shown: [{ when: 'a field is misspelt', push: push(), body: { ...push(), tabel: { number: '12' } } }],
    notShown: [
      { when: 'all are fields of a check', push: revised(1) },
      { when: 'the body names its schema', push: push(), body: { $schema: 'check.schema.json', ...push() } },
    ],
  },
  revision_missing: {
    shown: [
      { when: 'the check has one', push: push({ items: [soup] }), before: revised(1), outcome: 'stale' },
      { when: 'the check has one and is the same', push: push(), before: revised(1), outcome: 'unchanged' },
      {
        when: 'it is in seconds, that of the check in milliseconds',
        push: revised(1_764_455_560, { items: [soup] }),
        before: revised(1_764_455_555_000),
        outcome: 'stale',
      },
    ],
    notShown: [
      {
        when: 'an earlier push in seconds comes again',
        push: revised(1_764_455_560),
        before: revised(1_764_455_565_000),
        earlier: [revised(1_764_455_560)],
        outcome: 'stale',
      },
      {
        when: 'a counter is a thousandth of the later one',
        push: revised(1, { items: [soup] }),
        before: revised(1000),
        outcome: 'stale',
      },
      {
        when: 'a push is a day late',
        push: revised(1_764_369_155_000, { items: [soup] }),
        before: revised(1_764_455_555_000),
        outcome: 'stale',
      },
      { when: 'the check has none', push: push({ items: [soup] }), before: push() },
      { when: 'the check is new', push: push() },
      { when: 'both have one', push: revised(2), before: revised(1) },
    ],
  },
  revision_reused: {
    shown: [
      { when: 'another content wins', push: revised(1, { items: [soup] }), before: revised(1) },
      { when: 'it loses', push: revised(1, { items: [soup] }), before: revised(1), outcome: 'stale' },
      {
        when: 'it begins again',
        push: revised(1, { items: [soup] }),
        before: revised(3),
        earlier: [revised(1), revised(2, { items: [bread] })],
        outcome: 'stale',
      },
    ],
    notShown: [
      {
        when: 'an earlier push comes again',
        push: revised(1),
        before: revised(3),
        earlier: [revised(1), revised(2, { items: [bread] })],
        outcome: 'stale',
      },
      {
        when: 'an earlier push comes for the first time',
        push: revised(1, { items: [soup] }),
        before: revised(3),
        earlier: [revised(2), revised(3)],
        outcome: 'stale',
      },
      { when: 'it is a replay', push: revised(1), before: revised(1), outcome: 'unchanged' },
      { when: 'the revision is another', push: revised(2, { items: [soup] }), before: revised(1) },
    ],
  },
  reopen_needs_revision: {
    shown: [{ when: 'a closed check is pushed as open', push: push(), before: closed(), outcome: 'stale' }],
    notShown: [
      { when: 'the push has a revision', push: revised(2), before: closed() },
      { when: 'the check has a revision', push: push(), before: closed({ revision: 2 }), outcome: 'stale' },
      { when: 'it stays closed', push: closed({ items: [soup] }), before: closed() },
      { when: 'it was open', push: push({ items: [soup] }), before: push() },
    ],
  },
  possible_late_retry: {
    shown: [
      {
        when: 'an earlier state comes back',
        push: push(),
        before: push({ items: [soup] }),
        earlier: [push()],
      },
    ],
    notShown: [
      {
        when: 'it comes back and is refused, as when a claimed item is voided',
        push: push(),
        before: push({ items: [soup, bread, wine] }),
        earlier: [push({ items: [soup] }), push()],
        outcome: 'conflict',
      },
      {
        when: 'the state is new',
        push: push(),
        before: push({ items: [soup] }),
        earlier: [push({ items: [bread] })],
      },
      {
        when: 'revisions order it',
        push: revised(3),
        before: revised(2, { items: [soup] }),
        earlier: [push()],
      },
      {
        when: 'it has the first revision of the check',
        push: revised(1),
        before: push({ items: [soup] }),
        earlier: [push()],
      },
      { when: 'it is a replay', push: push(), before: push(), earlier: [push()], outcome: 'unchanged' },
    ],
  },
  item_id_reused: {
    shown: [
      { when: 'an id has another name', push: push({ items: [{ ...soup, name: 'Wine' }] }), before: push() },
      {
        when: 'the last of them has, and more come',
        push: push({ items: [soup, { ...bread, name: 'Roll' }, wine] }),
        before: push(),
      },
      {
        when: 'lines are numbered by position',
        push: renumbered(),
        before: push({ items: [soup, bread, wine] }),
      },
    ],
    notShown: [
      { when: 'names stay', push: push({ items: [{ ...soup, price_cents: 800 }, bread] }), before: push() },
      {
        when: 'a name is tidied up',
        push: push({ items: [{ ...soup, name: ' ＳＯＵＰ  of\u00a0DAY' }, bread] }),
        before: push({ items: [{ ...soup, name: 'Soup of day' }, bread] }),
      },
      {
        when: 'the push is stale',
        push: revised(1, { items: [{ ...soup, name: 'Tea' }] }),
        before: revised(2),
        outcome: 'stale',
      },
    ],
  },
  item_id_unstable: {
    shown: [
      {
        when: 'an item has a new id',
        push: push({ items: [{ ...soup, external_id: '9' }, bread] }),
        before: push(),
      },
      {
        when: 'all have',
        push: push({
          items: [
            { ...soup, external_id: '8' },
            { ...bread, external_id: '9' },
          ],
        }),
        before: push(),
        outcome: 'conflict',
      },
      {
        when: 'one of two lines of a product has, and the other vanished',
        push: push({ items: [{ ...soup, external_id: '9' }, bread] }),
        before: push({ items: [soup, { ...soup, external_id: '8' }, bread] }),
      },
      {
        when: 'two lines of a product have, each with its note',
        push: push({
          items: [
            { ...soup, external_id: '8' },
            { ...soup, external_id: '9', note: 'hot' },
          ],
        }),
        before: push({
          items: [
            { ...soup, note: 'hot' },
            { ...soup, external_id: '7' },
          ],
        }),
      },
    ],
    notShown: [
      {
        when: 'a line is voided and ordered again with another note',
        push: push({ items: [bread, { ...soup, external_id: '9', note: 'hot' }] }),
        before: push(),
      },
      {
        when: 'one of two lines of a product is voided and ordered again',
        push: push({ items: [soup, bread, { ...soup, external_id: '9' }] }),
        before: push({ items: [soup, { ...soup, external_id: '8' }, bread] }),
      },
      {
        when: 'all is voided, and one line is ordered again with another note',
        push: push({ items: [{ ...soup, external_id: '9', note: 'hot' }] }),
        before: push(),
      },
      {
        when: 'another one of it is ordered',
        push: push({ items: [soup, bread, { ...soup, external_id: '9' }] }),
        before: push(),
      },
      {
        when: 'its price is another',
        push: push({ items: [item('9', 'Soup', 950), bread] }),
        before: push(),
      },
      { when: 'the check is new', push: push() },
    ],
  },
  quantity_precision: {
    shown: [
      { when: 'a third has 5 decimals', push: precise(0.33333) },
      { when: 'a quantity is less than a thousandth', push: precise(0.0004) },
      { when: 'it is a sum in binary', push: precise(0.1 + 0.2) },
    ],
    notShown: [
      { when: 'quantities are whole', push: precise(1_000_000) },
      { when: 'they have 3 decimals', push: precise(0.333) },
    ],
  },
  text_encoding: {
    shown: [
      { when: 'UTF-8 is read as Latin-1', push: named('CafÃ© au lait') },
      { when: 'UTF-8 is read as Windows-1252', push: named('RenÃ©â€™s soup') },
      { when: 'it is Polish', push: named('KieÅ‚basa') },
      { when: 'it is Polish and begins the word', push: named('Å»urek') },
      { when: 'it is Cyrillic', push: named('Ð‘Ð¾Ñ€Ñ‰') },
      { when: 'it is an emoji', push: named('Chili ðŸŒ¶') },
      { when: 'a capital is the first byte of î', push: named('MaÃ®tre') },
      { when: 'a sign of a degree has a second byte', push: named('0Â° beer') },
      { when: 'a character is lost', push: named('Caf\uFFFD') },
      { when: 'a name is in HTML', push: named('Fish &amp; Chips') },
      { when: 'a name is in HTML with a number', push: named('Mom&#39;s pie') },
      { when: 'a name has an escape of JSON', push: named('Caf\\u00e9') },
      { when: 'it is a note', push: push({ items: [{ ...soup, note: 'sans crÃ¨me' }, bread] }) },
      { when: 'it is the table', push: push({ table: { number: 'CafÃ© 1' } }) },
    ],
    notShown: [
      { when: 'a capital comes before a sign', push: named('NESCAFÉ® AU LAIT ÀÉ™') },
      { when: 'an apostrophe follows a capital', push: named('RENÉ’S SOUP…') },
      { when: 'it is in quotation marks', push: named('«Crème brûlée», “ÖL”') },
      { when: 'it is in capitals', push: named('PÃO DE AÇÚCAR, MAÇÃ™') },
      { when: 'a sign follows Ã at the end of a word', push: named('ROMÃ…') },
      { when: 'an apostrophe follows Ã', push: named('DIVÃ’S') },
      { when: 'it is in other alphabets', push: named('Борщ 寿司 كسكس ☕️🌶') },
      { when: 'it has a sign of HTML', push: named('Fish & Chips; R&D; <3 "x"') },
      { when: 'it has a backslash', push: named('C:\\users') },
    ],
  },
  delta_suspected: {
    shown: [
      {
        when: 'a closed check gets only the latest order',
        push: closed({ items: [wine] }),
        before: closed(),
      },
      {
        when: 'it is the second such push',
        push: push({ items: [wine] }),
        before: push(),
        earlier: [push({ items: [item('4', 'Tea', 200)] }), push()],
      },
      { when: 'all vanished and all is new', push: push({ items: [wine] }), before: push() },
      {
        when: 'the only item is replaced, after another one was',
        push: push({ items: [wine] }),
        before: push({ items: [bread] }),
        earlier: [push({ items: [soup] }), push({ items: [bread] })],
      },
      {
        when: 'the only item is replaced with revisions, after two were',
        push: revised(9, { items: [item('4', 'Tea', 200), item('5', 'Cake', 500)] }),
        before: revised(8, { items: [wine] }),
        earlier: [revised(6), revised(7), revised(7), revised(8, { items: [wine] })],
      },
    ],
    notShown: [
      {
        when: 'an exchange is undone',
        push: push({ items: [soup], table: { number: '3' } }),
        before: push({ items: [bread] }),
        earlier: [push({ items: [soup] }), push({ items: [bread] })],
      },
      {
        when: 'one is exchanged for one, after a void of the first',
        push: push({ items: [wine] }),
        before: push({ items: [bread] }),
        earlier: [push({ items: [soup] }), push({ items: [] }), push({ items: [bread] })],
      },
      {
        when: 'one is exchanged for one, after it was ordered again under another id',
        push: push({ items: [wine] }),
        before: push({ items: [{ ...soup, external_id: '8' }] }),
        earlier: [push({ items: [soup] }), push({ items: [{ ...soup, external_id: '8' }] })],
      },
      {
        when: 'one is exchanged for one, after a party before had the check',
        push: push({ items: [wine] }),
        before: push({ items: [bread] }),
        earlier: [closed({ items: [soup] }), push({ items: [bread] })],
      },
      {
        when: 'something is left of three, and one is added',
        push: push({ items: [wine, item('4', 'Tea', 200)] }),
        before: push({ items: [soup, bread, wine] }),
      },
      { when: 'something is left', push: push({ items: [soup, wine] }), before: push() },
      { when: 'one is exchanged for one', push: push({ items: [wine] }), before: push({ items: [soup] }) },
      { when: 'all is voided', push: push({ items: [] }), before: push() },
      { when: 'ids are unstable', push: push({ items: [{ ...soup, external_id: '9' }] }), before: push() },
      {
        when: 'it is an older state',
        push: revised(1, { items: [wine] }),
        before: revised(2),
        outcome: 'stale',
      },
    ],
  },
  check_id_reused: {
    shown: [
      {
        when: 'the revision begins again an hour after closing',
        push: revised(1, { items: [wine] }),
        before: closed({ revision: 7 }),
        late: true,
        outcome: 'stale',
      },
      {
        when: 'a revision that was used comes again',
        push: revised(1, { items: [wine] }),
        before: closed({ revision: 7 }),
        earlier: [revised(1)],
        outcome: 'stale',
      },
      {
        when: 'another table gets the id',
        push: revised(8, { items: [wine], table: { number: '5' } }),
        before: closed({ revision: 7, items: [soup] }),
      },
      {
        when: 'another table gets the id of a check with two items',
        push: revised(8, { items: [wine], table: { number: '5' } }),
        before: closed({ revision: 7 }),
      },
    ],
    notShown: [
      {
        when: 'an old push comes late',
        push: revised(1, { items: [soup] }),
        before: closed({ revision: 7 }),
        outcome: 'stale',
      },
      {
        when: 'an old push comes late, and its items were exchanged since',
        push: revised(1, { items: [wine] }),
        before: closed({ revision: 7 }),
        earlier: [revised(2, { items: [wine, soup] })],
        outcome: 'stale',
      },
      {
        when: 'a push that never arrived is sent again after a move to another table and closing',
        push: revised(1, { items: [wine], table: { number: '5' } }),
        before: closed({ revision: 7 }),
        earlier: [revised(2, { items: [soup], table: { number: '5' } })],
        outcome: 'stale',
      },
      {
        when: 'a push that never arrived is sent again soon after closing, and its items were exchanged',
        push: revised(1, { items: [wine] }),
        before: closed({ revision: 7 }),
        outcome: 'stale',
      },
      {
        when: 'an old push comes an hour late, and its items were exchanged since',
        push: revised(1, { items: [wine] }),
        before: closed({ revision: 7 }),
        earlier: [revised(2, { items: [wine, soup] })],
        late: true,
        outcome: 'stale',
      },
      {
        when: 'an old push comes an hour late',
        push: revised(1, { items: [soup] }),
        before: closed({ revision: 7 }),
        late: true,
        outcome: 'stale',
      },
      {
        when: 'the party sat at another table at first',
        push: revised(1, { items: [soup], table: { number: '5' } }),
        before: closed({ revision: 7 }),
        outcome: 'stale',
      },
      { when: 'a tab is reopened', push: revised(8), before: closed({ revision: 7 }) },
      {
        when: 'a tab is reopened, and its only item is exchanged',
        push: revised(8, { items: [wine] }),
        before: closed({ revision: 7, items: [soup] }),
      },
      {
        when: 'a party was just seated, late',
        push: revised(1, { items: [] }),
        before: closed({ revision: 7 }),
        late: true,
        outcome: 'stale',
      },
      {
        when: 'the check is open',
        push: revised(1, { items: [wine] }),
        before: revised(2),
        outcome: 'stale',
      },
    ],
  },
  overpaid: {
    shown: [
      {
        when: 'the payment is booked as a line',
        push: push({ items: [soup, bread, item('qr', 'Card payment', -1300)] }),
        before: push(),
        paid: 1300,
      },
      { when: 'the total falls after payment', push: push({ items: [soup] }), before: push(), paid: 1300 },
      { when: 'the bill is emptied at closing', push: closed({ items: [] }), before: push(), paid: 200 },
    ],
    notShown: [
      { when: 'nothing was paid', push: push({ items: [soup] }), before: push() },
      { when: 'the rest covers the discount', push: push({ items: [soup] }), before: push(), paid: 1000 },
      { when: 'more is ordered', push: push({ items: [soup, bread, wine] }), before: push(), paid: 1300 },
      { when: 'it was overpaid before', push: push({ items: [soup, bread] }), before: push(), paid: 1500 },
      {
        when: 'the push is refused',
        push: push({ items: [soup] }),
        before: push(),
        paid: 1300,
        outcome: 'conflict',
      },
    ],
  },
  lines_merged: {
    shown: [
      {
        when: 'two lines become one',
        push: push({ items: [{ ...soup, quantity: 2 }] }),
        before: push({ items: [soup, { ...soup, external_id: '8' }] }),
      },
      {
        when: 'weighed lines become one, in vain',
        push: push({ items: [bread, { ...soup, quantity: 0.3 }] }),
        before: push({
          items: [bread, { ...soup, quantity: 0.1 }, { ...soup, external_id: '8', quantity: 0.2 }],
        }),
        outcome: 'conflict',
      },
    ],
    notShown: [
      {
        when: 'the line that stays has another price',
        push: untaxed([{ ...soup, quantity: 2, price_cents: 800 }]),
        before: untaxed([soup, { ...soup, external_id: '2' }]),
      },
      {
        when: 'one of two is voided',
        push: push({ items: [soup] }),
        before: push({ items: [soup, { ...soup, external_id: '8' }] }),
      },
      {
        when: 'another one is ordered',
        push: push({ items: [{ ...soup, quantity: 2 }, bread] }),
        before: push(),
      },
      {
        when: 'the vanished line had another price',
        push: push({ items: [{ ...soup, quantity: 2 }] }),
        before: push({ items: [soup, item('8', 'Soup', 100)] }),
      },
    ],
  },
  unit_change: {
    shown: [
      { when: 'cents become dollars', push: times(1 / 100), before: push() },
      { when: 'dollars become cents', push: times(100), before: push() },
      {
        when: 'dollars become cents, beside a free item',
        push: untaxed([...times(100).items, item('w', 'Water', 0)]),
        before: untaxed([soup, bread, item('w', 'Water', 0)]),
      },
      {
        when: 'cents are cut off',
        push: untaxed([item('1', 'Soup', 9), item('2', 'Bread', 3)]),
        before: untaxed([item('1', 'Soup', 950), item('2', 'Bread', 325)]),
      },
      {
        when: 'dollars become cents, and an item is added',
        push: untaxed([...times(100).items, item('3', 'Wine', 120_000)]),
        before: push(),
      },
      {
        when: 'cents become dollars, an item is added in the front, and one is voided',
        push: untaxed([item('4', 'Tea', 2), ...times(1 / 100).items]),
        before: untaxed([soup, bread, wine]),
      },
      {
        when: 'dollars become cents, and an item is added to the only one',
        push: untaxed([item('3', 'Wine', 120_000), item('4', 'Tea', 20_000)]),
        before: untaxed([wine]),
      },
      {
        when: 'the only price becomes 1,000.00, and an item is added',
        push: untaxed([item('3', 'Wine', 100_000), item('4', 'Tea', 20_000)]),
        before: untaxed([item('3', 'Wine', 1000)]),
      },
    ],
    notShown: [
      {
        when: 'one of two prices is corrected',
        push: push({ items: [soup, { ...bread, price_cents: 3 }] }),
        before: push(),
      },
      { when: 'prices double', push: times(2), before: push() },
      {
        when: 'the only price is corrected',
        push: untaxed([item('3', 'Wine', 120_000)]),
        before: untaxed([wine]),
      },
      {
        when: 'the only price is corrected, and an item is added',
        push: untaxed([item('1', 'Soup', 900), bread]),
        before: untaxed([item('1', 'Soup', 9)]),
      },
      {
        when: 'the only price becomes 999.99, and an item is added',
        push: untaxed([item('3', 'Wine', 99_999), item('4', 'Tea', 20_000)]),
        before: untaxed([item('3', 'Wine', 1000)]),
      },
      { when: 'the push is stale', push: times(100), before: push(), outcome: 'stale' },
      {
        when: 'prices fall to nearly a hundredth, and an item is added',
        push: untaxed([item('1', 'Soup', 8), item('2', 'Bread', 2), wine]),
        before: untaxed([soup, bread]),
      },
      {
        when: 'cheap items are given away, and an item is added',
        push: untaxed([item('1', 'Gum', 0), item('2', 'Mint', 0), wine]),
        before: untaxed([item('1', 'Gum', 60), item('2', 'Mint', 50)]),
      },
      {
        when: 'prices are of other units, in which there is a hundredth of each',
        push: untaxed(
          [soup, bread].map((one) => ({ ...one, price_cents: one.price_cents * 100, quantity: 0.01 })),
        ),
        before: untaxed([soup, bread]),
      },
      {
        when: 'a large price is corrected to a small one, and an item is added',
        push: untaxed([wine, bread]),
        before: untaxed([item('3', 'Wine', 120_000)]),
      },
      {
        when: 'all is given away at one cent, and an item is added',
        push: untaxed([item('1', 'Coffee', 1), item('2', 'Croissant', 1), item('3', 'Tea', 1)]),
        before: untaxed([item('1', 'Coffee', 150), item('2', 'Croissant', 120)]),
      },
      {
        when: 'prices are corrected, but not that of an item behind an added one',
        push: untaxed([wine, item('1', 'Soup', 90_000), bread]),
        before: untaxed([soup, bread]),
      },
      {
        when: 'a staff meal is given away at one cent per item',
        push: untaxed([item('1', 'Coffee', 1), item('2', 'Croissant', 1)]),
        before: untaxed([item('1', 'Coffee', 150), item('2', 'Croissant', 120)]),
      },
      { when: 'all is voided', push: push({ items: [] }), before: push() },
      { when: 'the check is new', push: times(100) },
    ],
  },
}

describe.each(Object.entries(cases))('%s', (code, { shown, notShown }) => {
  test.each(shown)('is shown when $when', (given) => expect(codesOf(given)).toEqual([code]))
  test.each(notShown)('is not shown when $when', (given) => expect(codesOf(given)).not.toContain(code))
})

test.each<[what: string, change: Partial<Push>]>([
  ['at another table', { table: { number: '13' } }],
  ['with another item id', { items: [soup, { ...bread, external_id: '9' }] }],
  ['with another name', { items: [soup, { ...bread, name: 'Roll' }] }],
  ['with another quantity', { items: [soup, { ...bread, quantity: 2 }] }],
  ['with another price', { items: [soup, { ...bread, price_cents: 400 }] }],
  ['with another subtotal', totals(1100, 100, 1300)],
  ['with another tax', totals(1200, 50, 1300)],
  ['with another total', totals(1200, 100, 1250)],
])('a check %s is no duplicate', (_what, change) => {
  const [one, other] = [checkOf(push(), 0), checkOf({ ...push(), totals: push().totals, ...change }, 0)]
  expect(duplicateCheck(one, other)).toBeUndefined()
  expect(duplicateCheck(one, { ...one, external_id: 'c-2' })?.code).toBe('duplicate_check')
})

test('findings of one push are in the order of the contract', () => {
  const items = [{ ...soup, price_cents: 0, quantity: 0.33333 }]
  expect(codesOf({ when: '', push: { ...totals(0, 0, 0), items }, before: revised(1) })).toEqual([
    'revision_missing',
    'quantity_precision',
  ])
})

test('a paid check may stay open for 15 minutes', () => {
  const after = (ms: number) => paidNotClosed('c-1', new Date(0), new Date(ms))
  expect(after(15 * 60_000 - 1)).toBeUndefined()
  expect(after(15 * 60_000)?.code).toBe('paid_not_closed')
})

test('counterexamples of one finding show no other finding, with two exceptions', () => {
  const quiet = Object.entries(cases).flatMap(([, { notShown }]) => notShown)
  const loud = quiet.filter((given) => codesOf(given).length > 0).map(({ when }) => when)
  expect(loud).toEqual(['the check has a revision', 'ids are unstable'])
})

test('quantity_precision is shown only for quantities with more than 3 decimals in JSON', () => {
  const anyQuantity = fc.oneof(
    fc.integer({ min: 1, max: 1_000_000_000 }).map((thousandths) => thousandths / 1000),
    fc.double({ min: 0, minExcluded: true, max: 1_000_000, noNaN: true }),
  )
  const holds = (quantity: number) => {
    const isPrecise = /\.\d{4,}$|e-/.test(JSON.stringify(quantity))
    expect(codesOf({ when: '', push: precise(quantity) })).toEqual(isPrecise ? ['quantity_precision'] : [])
  }
  fc.assert(fc.property(anyQuantity, holds), { numRuns: isSoak ? 2000 : 500 })
})

test('text_encoding is shown for texts whose bytes are read in another encoding, not for others', () => {
  const words = [
    'Crème brûlée',
    'Jalapeños',
    'Größe',
    'Smörgås',
    'Pão de queijo',
    'Żurek z kiełbasą',
    'Køfte',
  ]
  const marks = ['', '™', '®', '…', ' – 5 €', '’s', '!', ' (vegan)', ' ☕️', ' 1½']
  const honest = fc
    .tuple(fc.constantFrom(...words, 'Soup'), fc.constantFrom(...marks), fc.boolean())
    .map(([word, mark, isLoud]) => (isLoud ? word.toUpperCase() : word) + mark)
  const read = (text: string, encoding: string) => new TextDecoder(encoding).decode(Buffer.from(text))
  const holds = (name: string) => {
    expect(codesOf({ when: '', push: named(name) })).toEqual([])
    const lost = /[^\0-\x7f]/.test(name) ? ['text_encoding'] : []
    const latin1 = Buffer.from(name).toString('latin1')
    expect(codesOf({ when: '', push: named(latin1) })).toEqual(lost)
    expect(codesOf({ when: '', push: named(read(name, 'windows-1252')) })).toEqual(lost)
  }
  fc.assert(fc.property(honest, holds), { numRuns: isSoak ? 2000 : 200 })
})

test('unit_change needs that no price other than 0 stays, whatever is corrected and added', () => {
  const anyPrice = fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constantFrom(1, 2, 100, 200_000))
  const lines = (prices: readonly number[], prefix: string) =>
    prices.map((price, at) => item(`${prefix}-${at}`, `Dish ${at}`, price))
  const prices = fc.array(anyPrice, { maxLength: 4 })
  const holds = (kept: number, corrected: number[], added: number[], factor: number) => {
    const before = lines([kept, ...corrected], 'a')
    const changed = lines([kept, ...corrected.map((price) => price * factor)], 'a')
    const after = untaxed([...lines(added, 'b'), ...changed])
    expect(codesOf({ when: '', push: after, before: untaxed(before) })).toEqual([])
  }
  fc.assert(fc.property(anyPrice, prices, prices, fc.constantFrom(1, 2, 100), holds))
})

describe('a message', () => {
  test('gives the numbers that do not add up', () => {
    const [finding] = findings({ when: '', push: totals(1000, 100, 1150) })
    for (const number of ['1200', '1000', '1100', '1150']) expect(finding?.message).toContain(number)
  })

  test('says what a text in a wrong encoding means', () => {
    const [finding] = findings({ when: '', push: named('CafÃ©') })
    expect(finding?.message).toContain(`${soup.external_id} has "CafÃ©" ("Café" in UTF-8, read as`)
  })

  test('names fields, ids and revisions', () => {
    const body = { ...push(), tabel: 1 }
    expect(findings({ when: '', push: push(), body })[0]?.message).toContain('tabel')
    expect(findings({ when: '', push: push({ items: [soup] }), before: revised(41) })[0]?.message).toContain(
      '41',
    )
    const moved = push({ items: [{ ...soup, external_id: '9' }, bread] })
    expect(findings({ when: '', push: moved, before: push() })[0]?.message).toContain('Soup (1 → 9)')
    const twice = push({ items: [soup, { ...soup, external_id: '2' }] })
    const once = push({ items: [{ ...soup, external_id: '9' }] })
    expect(findings({ when: '', push: once, before: twice })[0]?.message).toContain(': Soup (1 → 9). Items')
  })

  test('names the field that orders pushes', () => {
    const messages = Object.values(cases).flatMap(({ shown }) =>
      shown.flatMap((given) => findings(given, 'version')),
    )
    const texts = messages.filter(({ code }) =>
      ['reopen_needs_revision', 'possible_late_retry'].includes(code),
    )
    expect(texts.length).toBeGreaterThan(1)
    for (const { message } of texts) {
      expect(message).toContain('Send version with each push')
      expect(message).not.toContain('revision')
    }
  })

  test('counts one new item, and more', () => {
    const added = (items: PushedItem[]) => findings({ when: '', push: push({ items }), before: push() })
    expect(added([wine])[0]?.message).toMatch(
      /^The push removed all 2 items of the check and added 1 new item\. /,
    )
    expect(added([wine, item('4', 'Tea', 200)])[0]?.message).toContain('added 2 new items. ')
  })

  test('does not say of a refused push that it changed the check', () => {
    const refused = (given: Pick<Case, 'push'>) =>
      findings({ when: '', before: push({ items: [soup, bread] }), outcome: 'conflict', ...given })
    const [delta] = refused({ push: push({ items: [wine] }) })
    expect(delta?.message).toMatch(
      /^The push would have removed all 2 items of the check and added 1 new item, and was refused\. /,
    )
    const cents = (factor: number) =>
      push({
        items: [soup, bread].map((one) => ({ ...one, price_cents: one.price_cents * factor })),
        totals: { subtotal_cents: 1200 * factor, tax_cents: 0, total_cents: 1200 * factor },
      })
    const units = findings({ when: '', before: cents(1), push: cents(100), outcome: 'conflict' })
    expect(units.find(({ code }) => code === 'unit_change')?.message).toContain(
      'total_cents was 1200, and the push has 120000.',
    )
  })

  test('does not take a cheaper item for a booked payment', () => {
    const [finding] = findings({
      when: '',
      push: untaxed([{ ...soup, price_cents: 0 }, bread]),
      before: untaxed([soup, bread]),
      paid: 900,
    })
    expect(finding?.message).toContain('600 cents too much. The service does not return the difference')
  })

  test('names the line that may be a booked payment, and not other discounts', () => {
    const discount = item('d', 'Discount', -100)
    const payment = item('qr', 'Card payment', -1300)
    const booked = push({ items: [soup, bread, discount, payment] })
    const [finding] = findings({ when: '', push: booked, before: push(), paid: 1300 })
    expect(finding?.message).toContain('The line qr "Card payment" (-1300 cents) looks like a booked payment')
    const lowered = push({ items: [soup, bread, { ...discount, price_cents: -300 }] })
    const before = push({ items: [soup, bread, discount] })
    expect(findings({ when: '', push: lowered, before, paid: 1200 })[0]?.message).toContain(
      ' New or lowered lines: d "Discount" (-200 cents).',
    )
  })

  test('names a quantity, and how much of it can be claimed', () => {
    const [finding] = findings({ when: '', push: precise(0.66666) })
    expect(finding?.message).toContain('1 has quantity 0.66666, of which 0.667 can be claimed')
  })

  test('names the first of many fields, and counts the rest', () => {
    const messageFor = (length: number) => {
      const fields = Object.fromEntries(Array.from({ length }, (_, at) => [`field${at}`, at]))
      return findings({ when: '', push: push(), body: { ...push(), ...fields } })[0]?.message
    }
    expect(messageFor(5)).toContain('field4. Correct')
    expect(messageFor(6)).toContain('field4 and 1 more. Correct')
    expect(messageFor(50)).toContain('field4 and 45 more. Correct')
  })
})

function codesOf(given: Case): string[] {
  return findings(given).map(({ code }) => code)
}

function findings(
  { push: pushed, before, paid = 0, outcome, earlier = [], late = false, body = pushed }: Case,
  orderBy = 'revision',
) {
  const seen = {
    body,
    push: pushed,
    before: null,
    outcome: outcome ?? (before === undefined ? ('created' as const) : ('updated' as const)),
    orderBy,
    repeatsEarlier: earlier.map(contentOf).includes(contentOf(pushed)),
    now: new Date(late ? '2026-11-21T13:00:00Z' : '2026-11-21T12:59:59.999Z'),
    earlierStates: () => earlier.map((one) => checkOf(one, 0)),
  }
  if (before === undefined) return findingsOf(seen)
  const changed = { ...seen, before: checkOf(before, paid) }
  return findingsWithHistory(findingsOf(changed), changed)
}

function checkOf(pushed: Push, paid_cents: number): Check {
  const time = '2026-11-21T12:00:00.000Z'
  return {
    ...pushed,
    id: 'chk_1',
    external_id: 'c-1',
    location_id: 'loc_1',
    items: pushed.items.map((line) => ({ ...line, claimed_quantity: 0, paid_quantity: 0 })),
    revision: pushed.revision ?? null,
    paid_cents,
    balance_cents: pushed.totals.total_cents - paid_cents,
    created_at: time,
    updated_at: time,
    closed_at: pushed.status === 'closed' ? time : null,
  }
}

function item(external_id: string, name: string, price_cents: number): PushedItem {
  return { external_id, name, quantity: 1, price_cents, note: null }
}

function closed(change: Partial<Push> = {}): Push {
  return push({ status: 'closed', ...change })
}

/** A third of an item on one check, whose totals are those of the third. */
function third(price_cents: number): Push {
  const sum = Math.round(price_cents / 3)
  return { ...totals(sum, 80, sum + 80), items: [{ ...soup, price_cents, quantity: 0.333 }] }
}

/** A part of an item of 100.00, with this subtotal. */
function part(quantity: number, sum: number): Push {
  return { ...totals(sum, 100, sum + 100), items: [{ ...soup, price_cents: 10_000, quantity }] }
}

/** 1.481 of soup at 9.00 is 13.329: a POS sends 13.32 or 13.33. */
function weighed(sum: number): Push {
  return { ...totals(sum, 100, sum + 100), items: [{ ...soup, quantity: 1.481 }] }
}

/** One line, whose price is 0, so that the totals add up at any quantity. */
function precise(quantity: number): Push {
  return { ...totals(0, 0, 0), items: [{ ...soup, price_cents: 0, quantity }] }
}

function named(name: string): Push {
  return push({ items: [{ ...soup, name }, bread] })
}

/** Soup and bread with all amounts multiplied. */
function times(factor: number): Push {
  const items = [soup, bread].map((line) => ({ ...line, price_cents: line.price_cents * factor }))
  return { ...totals(1200 * factor, 100 * factor, 1300 * factor), items }
}

function renumbered(): Push {
  return push({ items: [soup, { ...wine, external_id: '2' }] })
}
