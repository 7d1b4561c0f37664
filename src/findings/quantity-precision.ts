import { claimableQuantity, roundQuantity } from '../model/guests/claimed-items.ts'
import { some, type PushSeen } from './finding.ts'

/**
 * Finds quantities with more than three decimals: guests claim in thousandths, so claims would differ from the push.
 */
export function quantityPrecision({ push: { items } }: Pick<PushSeen, 'push'>): string | undefined {
  const precise = items.filter(({ quantity }) => roundQuantity(quantity) !== quantity)
  if (precise.length === 0) return undefined
  const names = precise.map(
    ({ external_id, quantity }) =>
      `${external_id} has quantity ${quantity}, of which ${claimableQuantity(quantity)} can be claimed`,
  )
  return `Quantities have more than 3 decimals: ${some(names)}. The check keeps them as pushed, but guests claim in thousandths. Round quantities to 3 decimals.`
}
