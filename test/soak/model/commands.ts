import fc from 'fast-check'
import { expect } from 'vitest'
import type { Push } from '../../../src/model/check.ts'
import { check, item, totals } from '../../support/simulator.ts'
import { expectPush, type Model } from './model.ts'
import { pushedPart, type Real } from './real.ts'

type Command = fc.AsyncCommand<Model, Real>

/** A command by its name: when it makes sense, and what it does and expects. */
function command(name: string, run: Command['run'], check: (model: Model) => boolean = () => true): Command {
  return { check, run, toString: () => name }
}

async function sendAndExpect(model: Model, real: Real, id: string, push: Push): Promise<void> {
  const outcome = expectPush(model, id, push)
  const answer = await real.put(id, push)
  expect(answer.status).toBe(outcome === 'created' ? 201 : 200)
  expect(pushedPart(answer.json)).toEqual(model.checks.get(id))
}

async function expectStored(model: Model, real: Real, id: string): Promise<void> {
  const stored = model.checks.get(id)
  const answer = await real.get(id)
  expect(answer.status).toBe(stored === undefined ? 404 : 200)
  if (stored !== undefined) expect(pushedPart(answer.json)).toEqual(stored)
}

async function expectAllStored(model: Model, real: Real): Promise<void> {
  for (const id of model.checks.keys()) await expectStored(model, real, id)
}

/** A push unlike every other one of its model. */
function freshPush(number: number, closed: boolean, revised: boolean): Push {
  return check({
    table: { number: String(number) },
    status: closed ? 'closed' : 'open',
    items: Array.from({ length: number % 4 }, (_, index) => item(`line-${index}`, { price_cents: number })),
    totals: totals((number % 4) * number),
    ...(revised && { revision: number }),
  })
}

const ids = fc.constantFrom('a', 'b', 'c')
const hasSent = (id: string) => (model: Model) => model.sent.has(id)

const push = fc.tuple(ids, fc.boolean(), fc.boolean()).map(([id, closed, revised]) =>
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
      const last = model.checks.get(id)
      const events = model.events.length
      if (last !== undefined) await sendAndExpect(model, real, id, last)
      expect(model.events).toHaveLength(events)
    },
    hasSent(id),
  ),
)

const get = ids.map((id) => command(`Get(${id})`, (model, real) => expectStored(model, real, id)))

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

/** Everything that can be done to the service, what is done most often several times; what guests do joins here. */
export const commands: fc.Arbitrary<Command>[] = [
  ...[push, push, push, stalePush, replay, get],
  ...[register, receiverDown, receiverUp, restart, kill],
]
