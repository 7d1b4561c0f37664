import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Check, Push } from '../../src/model/check.ts'
import { newDirectory, tidyUp } from '../store/folder.ts'
import { check, openSimulator } from '../support/simulator.ts'
import { commands } from './model/commands.ts'
import { judge } from './model/history.ts'
import { newModel, type Model } from './model/model.ts'
import { openReal, startApart, startInside, type Start } from './model/real.ts'
import { isSoak } from './seeded.ts'

tidyUp()

const seed = Number(process.env.TABWIRE_SOAK_SEED ?? 20_261_121)
/**
 * `TABWIRE_SOAK_RUNS=100 npm run soak` for less of it; the seed repeats a run, and with `TABWIRE_SOAK_PATH` and
 * `TABWIRE_SOAK_REPLAY_PATH`, as they are printed, the one in it that failed.
 */
const runs = Number(process.env.TABWIRE_SOAK_RUNS ?? 2_000)
const good = { lost: [], unexpected: [], changed: [], repeated: [], different: [] }

interface Runs {
  numRuns: number
  maxCommands: number
}
/** Where a failure was, as fast-check prints it; with the seed, it repeats that run. */
interface Repeat {
  path?: string | undefined
  replayPath?: string | undefined
}
const { TABWIRE_SOAK_PATH: path, TABWIRE_SOAK_REPLAY_PATH: replayPath } = process.env

/** Runs models against services; `also` is a further assertion at the end of each run. */
function runModels(
  start: Start,
  { numRuns, maxCommands }: Runs,
  repeat: Repeat,
  also: (model: Model) => void,
) {
  const sequences = fc.commands(commands, {
    maxCommands,
    size: 'max',
    ...(repeat.replayPath !== undefined && { replayPath: repeat.replayPath }),
  })
  const property = fc.asyncProperty(sequences, async (sequence) => {
    const model = newModel()
    const real = await openReal(start, await newDirectory())
    try {
      await fc.asyncModelRun(() => ({ model, real }), sequence)
      expect(judge(await real.history(model))).toEqual(good)
      also(model)
    } finally {
      await real.close()
    }
  })
  return fc.check(property, { numRuns, seed, endOnFailure: !isSoak, path: repeat.path ?? '' })
}

async function expectModels(start: Start, runs: Runs): Promise<void> {
  const details = await runModels(start, runs, { path, replayPath }, () => undefined)
  if (details.failed) throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance })
}

describe(`after random actions, seed ${seed},`, () => {
  test(
    'the service equals the model, and every event arrives',
    () =>
      expectModels(
        startInside,
        isSoak ? { numRuns: runs, maxCommands: 60 } : { numRuns: 6, maxCommands: 40 },
      ),
    isSoak ? 3_600_000 : 30_000,
  )

  test.runIf(isSoak)(
    'the service equals the model also when its process is killed',
    () => expectModels(startApart, { numRuns: Math.ceil(runs / 40), maxCommands: 40 }),
    3_600_000,
  )

  test('a failure can be repeated with its seed and path', async () => {
    const isWrong = (repeat: Repeat) =>
      runModels(startInside, { numRuns: 20, maxCommands: 20 }, repeat, (model) =>
        expect(model.pushes).toBeLessThan(3),
      )
    const first = await isWrong({})
    const said = fc.stringify(first.counterexample)
    expect(said).toMatch(/Push\(.*Push\(.*Push\(/)
    const [, replayPath] = /replayPath="(.*)"/.exec(said) ?? []
    const again = await isWrong({ path: first.counterexamplePath ?? '', replayPath })
    expect([again.numRuns, fc.stringify(again.counterexample)]).toEqual([1, said])
  })
})

describe('pushes of several senders at once', () => {
  const states = (sender: number): Push[] =>
    [1, 2, 3].map((step) =>
      check({ table: { number: `${sender}-${step}` }, revision: step * 10 + sender, items: [] }),
    )

  test(
    `for any interleaving of three senders, seed ${seed}, the newest push determines the state`,
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
        const revisions = seen.map((shown) => Number(shown.revision ?? 0))
        expect(revisions).toEqual([...revisions].sort((a, b) => a - b))
        const { data } = await target.client.events.list({ external_check_id: id, limit: 100 })
        expect(data).toHaveLength(new Set(revisions).size)
      })
      await fc.assert(property, { numRuns: isSoak ? runs : 15, seed })
    },
    isSoak ? 600_000 : 20_000,
  )
})
