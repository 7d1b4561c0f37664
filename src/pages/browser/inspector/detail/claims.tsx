import type { ClaimView } from '../../../../model/claim.ts'
import { pay, release } from '../actions.ts'
import { queryText } from '../ask.ts'
import type { List } from '../list.ts'
import { Badge } from '../badge.tsx'
import { money } from '../money-text.ts'
import { Action, Section } from './parts.tsx'
import { useAsked } from '../use-asked.ts'

/** What guests have claimed of a check; what is active can be paid or released. */
export function Claims({ externalId }: { externalId: string }) {
  const { value } = useAsked<List<ClaimView>>(
    `/claims${queryText({ limit: '100', external_check_id: externalId })}`,
  )
  if (value === undefined || value.data.length === 0) return null
  return (
    <Section title="Claims">
      <ul class="lines">
        {value.data.map((claim) => (
          <li key={claim.id} class="claim">
            <span>
              {claim.guest_name ?? 'A guest'}, {money.value(claim.amount_cents)} <Badge word={claim.status} />
            </span>
            {claim.status === 'active' && (
              <span class="buttons">
                <Action
                  onClick={() => pay(externalId, { guest_name: claim.guest_name, claim_ids: [claim.id] })}
                >
                  Pay it
                </Action>
                <Action onClick={() => release(claim.id)}>Release</Action>
              </span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}
