import type { Client } from '../../client.ts'
import { burger, checkOf, fries, tart } from './meal.ts'
import type { Scene } from './scene.ts'
import { createStage, type Receiver } from './stage.ts'

const EXTERNAL_ID = 'demo-table-12'

/** Plays an evening from registration to the last verified delivery, and yields each scene as it happens: eight kinds of events. */
export async function* playStory(client: Client, receiver: Receiver): AsyncGenerator<Scene, void> {
  const { register, push, pushInVain, guest, compare } = createStage(client, receiver, EXTERNAL_ID)
  const { guests } = client
  yield* register()
  yield* push('a new check', checkOf(1, 'open', [burger, fries]), 1)
  yield* push('the same push again', checkOf(1, 'open', [burger, fries]), 0)
  yield* push('dessert is added', checkOf(3, 'open', [burger, fries, tart]), 1)
  yield* push('an older push arrives late', checkOf(2, 'open', [burger]), 0)

  const items = [
    { external_id: burger.external_id, quantity: 1 },
    { external_id: fries.external_id, quantity: 1 },
  ]
  const claimed = guests.claim(EXTERNAL_ID, { guest_name: 'Anna', items })
  const claim = yield* guest('Anna claims a burger and the fries', claimed, 1)
  yield* pushInVain('the fries are taken off, which Anna has claimed', checkOf(4, 'open', [burger, tart]))

  const own = { guest_name: 'Anna', claim_ids: [claim.id], tip_cents: 300 }
  yield* guest('Anna pays what she has claimed, and a tip', guests.pay(EXTERNAL_ID, own), 1)
  const paid = guests.pay(EXTERNAL_ID, { guest_name: 'Ben' })
  const rest = yield* guest('Ben pays the rest', paid, 2)
  yield* push('the check is closed', checkOf(5, 'closed', [burger, fries, tart]), 1)
  yield* compare()

  const back = guests.refund(rest.id, { amount_cents: tart.price_cents })
  yield* guest('one tart was not served: Ben gets it back', back, 1)
  const rated = guests.rate(EXTERNAL_ID, { guest_name: 'Anna', rating: 5, comment: 'Lovely tart' })
  yield* guest('Anna rates the evening', rated, 1)
}
