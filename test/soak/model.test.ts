import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Check, Push } from '../../src/model/check.ts'
import { newDirectory, tidyUp } from '../store/folder.ts'
import { check, openSimulator } from '../support/simulator.ts'
import { commands } from './model/commands.ts'
import { judge } from './model/history.ts'
import { newModel } from './model/model.ts'
import { openReal, startApart, startInside, type Start } from './model/real.ts'
import { isSoak } from './seeded.ts'

tidyUp()

const seed = Number(process.env.TABWIRE_SOAK_SEED ?? 20_261_121)
/** `TABWIRE_SOAK_RUNS=100 npm run soak` for less of it; the seed repeats a run. */
const runs = Number(process.env.TABWIRE_SOAK_RUNS ?? 2_000)
const good = { lost: [], unexpected: [], changed: [], repeated: [], different: [] }

async function runModels(start: Start, numRuns: number, maxCommands: number): Promise<void> {
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands, size: 'max' }), async (sequence) => {
    const model = newModel()
    const real = await openReal(start, await newDirectory())
    try {
      await fc.asyncModelRun(() => ({ model, real }), sequence)
      expect(judge(await real.history(model))).toEqual(good)
    } finally {
      await real.close()
    }
  })
  await fc.assert(property, { numRuns, seed, ...(isSoak ? {} : { endOnFailure: true }) })
}

describe(`CONV-12, CONV-14 whatever is done to it, seed ${seed},`, () => {
  test(
    'the service is as the model says, and every event comes',
    () => runModels(startInside, isSoak ? runs : 8, isSoak ? 60 : 25),
    isSoak ? 3_600_000 : 30_000,
  )

  test.runIf(isSoak)(
    'also when its process is killed in truth',
    () => runModels(startApart, Math.ceil(runs / 40), 40),
    3_600_000,
  )
})

describe('CONV-13', () => {
  const states = (sender: number): Push[] =>
    [1, 2, 3].map((step) =>
      check({ table: { number: `${sender}-${step}` }, revision: step * 10 + sender, items: [] }),
    )

  test(
    `however the pushes of three senders come between each other, seed ${seed}, the newest is the state`,
    async () => {
      const target = await openSimulator()
      let runs = 0
      const property = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const id = `run-${runs++}`
        const seen: Check[] = []
        const sequences = [0, 1, 2].map((sender) =>
          scheduler.scheduleSequence(
            states(sender).map((push, step) => ({
              label: `sender ${sender}, step ${step}`,
              builder: async () => void seen.push((await target.push(id, push)).json as Check),
            })),
          ),
        )
        await scheduler.waitFor(Promise.all(sequences.map(({ task }) => task)))
        const newest = states(2)[2]
        const { table, revision } = await target.client.checks.get(id)
        expect({ table, revision }).toEqual({ table: newest?.table, revision: newest?.revision })
        const revisions = seen.map((shown) => shown.revision ?? 0)
        expect(revisions).toEqual([...revisions].sort((a, b) => a - b))
        const { data } = await target.client.events.list({ external_check_id: id, limit: 100 })
        expect(data).toHaveLength(new Set(revisions).size)
      })
      await fc.assert(property, { numRuns: isSoak ? runs : 15, seed })
    },
    isSoak ? 600_000 : 20_000,
  )
})
