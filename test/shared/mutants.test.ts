import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { postgresPrograms } from '../support/postgres.ts'

const run = promisify(execFile)

/** A lock, a fence or a check that is taken out, and the tests that must notice. */
interface Mutant {
  what: string
  file: string
  from: string
  to: string
  tests?: string
}

const store = 'src/store/postgres/postgres-store.ts'
const journal = 'src/store/postgres/journal.ts'

const mutants: readonly Mutant[] = [
  {
    what: 'a decision without writes is not confirmed',
    file: store,
    from: 'if (!(await within(msFor(), replica.catchUp(own, found)))) return decided',
    to: 'return decided',
  },
  {
    what: 'a batch that lost is not undone',
    file: store,
    from: 'onConflict()\n      replica.undo(ahead)',
    to: 'onConflict()',
  },
  {
    what: 'a batch whose answer was lost is not looked for',
    file: store,
    from: 'if (written !== undefined) return written',
    to: '',
  },
  {
    what: 'a batch in its turn is not looked for',
    file: store,
    from: 'return executed() === undefined ? attempt(own) : undefined',
    to: 'return attempt(own)',
  },
  {
    what: 'deliveries are due before they are durable',
    file: store,
    from: 'if (replica.isAhead()) await',
    to: 'if (closed) await',
  },
  {
    what: 'missing changes go unnoticed',
    file: journal,
    from: 'isLost: head > after && oldest !== after + 1',
    to: 'isLost: false',
  },
  {
    what: 'a replacement does not look for transactions since',
    file: journal,
    from: 'WHERE seq = $1 RETURNING seq',
    to: 'WHERE $1::bigint > 0 RETURNING seq',
  },
  {
    what: 'two instances migrate at once',
    file: 'src/store/postgres/schema.ts',
    from: "await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`tabwire ${sandbox}`])",
    to: '',
  },
  {
    what: 'a failed transaction counts as committed',
    file: 'src/store/postgres/database.ts',
    from: "if (command !== 'COMMIT') throw",
    to: "if (command === '') throw",
  },
  {
    what: 'an attempt is recorded twice',
    file: 'src/operations/record-attempt.ts',
    from: ' || delivery.attempts.length !== command.attempt - 1',
    to: '',
    tests: 'test/operations/record-attempt.test.ts',
  },
  {
    what: 'an attempt of earlier records is recorded',
    file: 'src/operations/record-attempt.ts',
    from: ' || command.generation !== generation',
    to: '',
    tests: 'test/operations/record-attempt.test.ts',
  },
]

/** In `npm test`, only that each mutant can be made: its text is in the source once. */
describe('each lock, fence and check of a shared store', () => {
  test.each(mutants)('is in the source once: $what', async ({ file, from }) => {
    const source = await readFile(file, 'utf8')
    expect(source.split(from)).toHaveLength(2)
  })
})

describe.runIf(isSoak && postgresPrograms !== undefined)('the tests of a shared store', () => {
  let copy = ''
  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'tabwire-mutants-'))
    const parts = ['src', 'test', 'fixtures', 'package.json', 'tsconfig.json', 'vitest.config.ts']
    for (const part of parts) await cp(part, join(copy, part), { recursive: true })
    await symlink(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  })
  afterAll(() => rm(copy, { recursive: true, force: true }))

  const passes = (tests = 'test/store/postgres/instances.test.ts') =>
    run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', tests], {
      cwd: copy,
      env: { ...process.env, npm_lifecycle_event: 'test' },
    }).then(
      () => true,
      () => false,
    )

  test('pass with every lock, fence and check', { timeout: 600_000 }, async () => {
    expect(await passes()).toBe(true)
  })

  test.each(mutants)('fail when $what', { timeout: 600_000 }, async ({ file, from, to, tests }) => {
    const source = await readFile(file, 'utf8')
    await writeFile(
      join(copy, file),
      source.replace(from, () => to),
    )
    try {
      expect(await passes(tests)).toBe(false)
    } finally {
      await writeFile(join(copy, file), source)
    }
  })
})
