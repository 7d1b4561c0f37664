import type { Check } from '../../../../model/check.ts'
import { isFullyPaid } from '../../../../model/guests/claimed-items.ts'
import { money } from '../api.ts'
import { Badge } from '../elements.tsx'
import type { View } from '../list/view.ts'
import { TestEventButton } from './events.tsx'

export const checksView: View<Check> = {
  name: 'checks',
  title: 'Checks',
  path: '/checks',
  filters: [
    {
      name: 'status',
      label: 'Status',
      choices: [
        ['open', 'open'],
        ['closed', 'closed'],
      ],
    },
  ],
  hint: 'Search check, table, ID',
  headings: ['Created', 'Check', 'Table', 'Status', 'Items', 'Total', 'Balance', 'Revision'],
  time: ({ created_at }) => created_at,
  cells: (check) => [
    <b>{check.external_id}</b>,
    check.table.number,
    <Badge word={checkWord(check)} />,
    check.items.length,
    money.value(check.totals.total_cents),
    money.value(check.balance_cents),
    check.revision ?? '–',
  ],
  opens: ({ external_id }) => `check/${external_id}`,
  follows: ['request', 'event'],
  empty: {
    title: 'No checks yet',
    text: 'A point of sale pushes the full state of a check on every change. Create one:',
    action: TestEventButton,
    commands: ['tabwire trigger check.created'],
  },
}

export function checkWord(check: Check): string {
  return isFullyPaid(check) ? 'fully paid' : check.status
}
