import { shuffled } from './shuffle.ts'

/**
 * In which orders so many pushes are tried, as their indexes: first as recorded, then `orders` others that the seed
 * decides, in each of which about half of the pushes come twice.
 */
export function ordersOf(pushes: number, orders: number, seed: number): number[][] {
  const recorded = Array.from({ length: pushes }, (_, index) => index)
  const drawn = Array.from({ length: orders }, (_, order) => {
    const twice = shuffled(recorded, seed + 2 * order + 1).slice(0, Math.ceil(pushes / 2))
    return shuffled([...recorded, ...twice], seed + 2 * order)
  })
  return [recorded, ...drawn]
}
