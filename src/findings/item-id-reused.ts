import { plainName, some, type PushFollowed } from './finding.ts'

/**
 * Finds an `external_id` that now names another thing. Claims follow the id, so guests would pay for the wrong item.
 */
export function itemIdReused({ change }: Pick<PushFollowed, 'change'>): string | undefined {
  const reused = (change?.changed ?? []).flatMap(({ external_id, changes }) =>
    changes
      .filter(({ field, from, to }) => field === 'name' && plainName(String(from)) !== plainName(String(to)))
      .map(({ from, to }) => `${external_id} was ${JSON.stringify(from)} and is now ${JSON.stringify(to)}`),
  )
  if (reused.length === 0) return undefined
  return `An external_id now names another item: ${some(reused)}. Claims follow the id, so a guest who claimed the old item would pay for the new one. Give each item its own external_id. Do not use its position.`
}
