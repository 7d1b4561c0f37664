import fc from 'fast-check'
import { expect } from 'vitest'
import type { Push } from '../../../src/model/check.ts'
import { check, item, totals } from '../../support/simulator.ts'
import { command, expectStored, ids, type Command } from './command.ts'
import { guestCommands } from './guest-commands.ts'
import { expectPush, type Model } from './model.ts'
import type { Real } from './real.ts'

async function sendAndExpect(model: Model, real: Real, id: string, push: Push): Promise<void> {
  const outcome = expectPush(model, id, push)
  const answer = await real.put(id, push)
  if (outcome === 'conflict')
    expect(answer.json).toMatchObject({ error: { code: 'conflict_with_paid_items' } })
  expect(answer.status).toBe({ created: 201, updated: 200, unchanged: 200, conflict: 409 }[outcome])
  const shown = await expectStored(model, real, id)
  if (outcome !== 'conflict') expect(answer.json).toEqual(shown)
}

async function expectAllStored(model: Model, real: Real): Promise<void> {
  for (const id of model.checks.keys()) await expectStored(model, real, id)
}

/** A push unlike every other one of its model. */
function freshPush(number: number, closed: boolean, revised: boolean): Push {
  const length = [3, 4, 2, 3, 4, 1, 4, 0][number % 8] ?? 0
  const [quantity, price] = [2 + (number % 3), 20 + ((number * 7) % 31)]
  const items = Array.from({ length }, (_, index) =>
    item(`line-${index}`, { quantity, price_cents: price + index }),
  )
  const lines = items.reduce((cents, line) => cents + line.quantity * line.price_cents, 0)
  return check({
    table: { number: String(number) },
    status: closed ? 'closed' : 'open',
    items,
    // With a charge on top, so that shares have to be rounded.
    totals: totals(lines + (number % 7)),
    ...(revised && { revision: number }),
  })
}

const hasSent = (id: string) => (model: Model) => model.sent.has(id)

const seldom = fc.nat(9).map((number) => number === 9)
const push = fc.tuple(ids, seldom, fc.boolean()).map(([id, closed, revised]) =>
  command(`Push(${id}${closed ? ', closed' : ''}${revised ? ', revised' : ''})`, (model, real) => {
    model.pushes += 1
    return sendAndExpect(model, real, id, freshPush(model.pushes, closed, revised))
  }),
)

const stalePush = fc.tuple(ids, fc.nat(20)).map(([id, back]) =>
  command(
    `StalePush(${id}, ${back})`,
    async (model, real) => {
      const sent = model.sent.get(id) ?? []
      const old = sent[back % sent.length]
      if (old !== undefined) await sendAndExpect(model, real, id, old)
    },
    hasSent(id),
  ),
)

const replay = ids.map((id) =>
  command(
    `Replay(${id})`,
    async (model, real) => {
      const last = model.checks.get(id)?.push
      const events = model.events.length
      if (last !== undefined) await sendAndExpect(model, real, id, last)
      expect(model.events).toHaveLength(events)
    },
    hasSent(id),
  ),
)

const get = ids.map((id) =>
  command(`Get(${id})`, async (model, real) => void (await expectStored(model, real, id))),
)

const register = fc.constant(
  command(
    'Register',
    async (model, real) => {
      const answer = await real.register(model.endpoints.length)
      expect(answer.status).toBe(201)
      model.endpoints.push(model.events.length)
    },
    ({ endpoints }) => endpoints.length < 3,
  ),
)

const receiverDown = fc.constant(command('ReceiverDown', async (_model, real) => real.receiver.answer(500)))
const receiverUp = fc.constant(command('ReceiverUp', async (_model, real) => real.receiver.answer(200)))

const restart = fc.constant(
  command('Restart', async (model, real) => {
    await real.restart()
    await expectAllStored(model, real)
  }),
)

const kill = fc.constant(
  command('Kill', async (model, real) => {
    await real.kill()
    await expectAllStored(model, real)
  }),
)

/** All commands, frequent ones repeated, guests' commands included. */
export const commands: fc.Arbitrary<Command>[] = [
  ...[push, push, push, stalePush, replay, get],
  ...[register, receiverDown, receiverUp, restart, kill],
  ...guestCommands,
]
