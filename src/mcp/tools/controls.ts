import { pageLimit } from '../../model/simulator/list-queries.ts'
import { z } from 'zod'
import { usageError } from '../../cli/errors.ts'
import { faultsOfWords } from '../../cli/parse-faults.ts'
import { renderReported } from '../../cli/render/report.ts'
import { renderClock, renderFaults, renderPlayed } from '../../cli/render/controls.ts'
import { startOfSince } from '../../cli/time.ts'
import { readGuides, type Guide } from '../../package-file.ts'
import { eventTypes } from '../../model/event.ts'
import type { Account } from '../../model/simulator/report.ts'
import type { DeliveryFault, Fault } from '../../model/simulator/fault.ts'
import { durationMs } from '../../model/text/time.ts'
import { COLUMNS, adds, defineTool, reads } from '../tool.ts'

export const clock = defineTool({
  name: 'clock',
  description:
    'Show the service clock. With advance, to or freeze: change it, for all users of the service. Moving it runs all due retries.',
  input: z.strictObject({
    advance: z.string().optional().describe('Move the clock forward, for example 90s, 5m, 36h or 1d.'),
    to: z.string().optional().describe('Move the clock to this time, ISO 8601 with time zone.'),
    freeze: z.boolean().optional().describe('true stops the clock; false lets it run.'),
  }),
  effects: { ...adds, openWorldHint: true },
  scopes: ['simulate'],
  async run({ connect }, { advance, to, freeze }, signal) {
    const given = [advance, to, freeze].filter((one) => one !== undefined)
    if (given.length > 1) throw usageError('Pass at most one of advance, to and freeze.')
    const client = await connect()
    if (advance !== undefined || to !== undefined) {
      const moved =
        advance === undefined
          ? await client.clock.moveTo(to ?? '', { signal })
          : await client.clock.advance(advance, { signal })
      return { text: renderPlayed(moved, COLUMNS), data: moved }
    }
    const view =
      freeze === undefined ? await client.clock.show() : await client.clock.freeze(freeze, { signal })
    return { text: renderClock(view), data: view }
  },
})

export const faults = defineTool({
  name: 'faults',
  description:
    'Show the injected faults. With set: replace all faults. With clear: end all faults. Both act for all users of the service.',
  input: z.strictObject({
    set: z
      .array(z.string())
      .min(1)
      .optional()
      .describe(
        'Faults with probability, such as drop=0.2. Deliveries: duplicate, reorder, delay, drop. API: latency=200ms, error, reset, lost_answer.',
      ),
    event_types: z
      .array(z.enum(eventTypes))
      .min(1)
      .optional()
      .describe('Only deliveries of these event types.'),
    times: z.int().min(1).optional().describe('Maximum number of affected attempts or requests.'),
    seed: z.int().min(0).optional().describe('Random seed; the current one by default.'),
    clear: z.boolean().optional().describe('true ends all faults; held deliveries are sent at once.'),
  }),
  effects: { ...adds, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  scopes: ['simulate'],
  async run({ connect }, { set, clear, seed, ...limits }) {
    const alone = Object.keys({ ...limits, ...(seed !== undefined && { seed }) })[0]
    if (set === undefined && alone !== undefined) throw usageError(`${alone} needs set.`)
    if (set !== undefined && clear === true) throw usageError('Pass either set or clear.')
    const wanted = set === undefined ? undefined : faultsOf(set, limits)
    const client = await connect()
    const view =
      wanted === undefined
        ? await (clear === true ? client.faults.clear() : client.faults.show())
        : await client.faults.set({ faults: wanted, seed: seed ?? (await client.faults.show()).seed })
    return { text: renderFaults(view, COLUMNS), data: view }
  },
})

type Limits = Pick<DeliveryFault, 'event_types' | 'times'>

/** @throws CommandError (usage) for an unknown fault, and for event types without a fault on deliveries. */
function faultsOf(words: readonly string[], { event_types, times }: Limits): Fault[] {
  const all = faultsOfWords(words, 'set')
  if (event_types !== undefined && !all.some(({ on }) => on === 'deliveries'))
    throw usageError('event_types needs a fault on deliveries, such as drop.')
  return all.map((fault) =>
    fault.on === 'deliveries' ? { ...fault, event_types, times } : { ...fault, times },
  )
}

/** Returns an account with its latest checks and first problems, as many as a list has by default, and the number of all. */
function shortened({ checks, problems, ...account }: Account) {
  return {
    ...account,
    checks: checks.slice(-pageLimit.default),
    checks_total: checks.length,
    problems: problems.slice(0, pageLimit.default),
    problems_total: problems.length,
  }
}

export const report = defineTool({
  name: 'report',
  description:
    'List problems found in your pushes, with the requests that show them. With account: also add up pushes, payments and deliveries.',
  input: z.strictObject({
    since: z
      .string()
      .optional()
      .describe('Only requests since this time, ISO 8601 or a duration ago such as 10m.'),
    account: z.boolean().default(false).describe('Also return the account of all checks.'),
    all_closed: z.boolean().default(false).describe('Implies account: an open check is a problem, too.'),
  }),
  effects: reads,
  scopes: ['simulate'],
  async run({ connect }, { since, account, all_closed }) {
    const ago = since === undefined ? undefined : durationMs(since)
    const client = await connect()
    const from = ago === undefined ? since : await startOfSince(client, { agoMs: ago })
    const data = {
      ...(await client.report(from)),
      ...((account || all_closed) && { account: await client.account({ all_closed }) }),
    }
    const shown = { ...data, ...(data.account && { account: shortened(data.account) }) }
    return { text: renderReported(data, COLUMNS), data: shown }
  },
})

export const guideSearch = defineTool({
  name: 'guide_search',
  description: 'Search the guides of Tabwire. Returns the sections that fit best. Needs no running service.',
  input: z.strictObject({
    query: z.string().min(1).max(400).describe('Words to search for.'),
    limit: z.int().min(1).max(10).default(3).describe('Maximum number of sections; 3 by default.'),
  }),
  effects: reads,
  scopes: [],
  async run(_context, { query, limit }) {
    const sections = searchGuides(await readGuides(), query).slice(0, limit)
    const shown = sections.map(({ guide, heading, text }) => `[guide ${guide}: ${heading}]\n${text}`)
    const text = shown.length === 0 ? `No section of a guide has these words: ${query}` : shown.join('\n\n')
    return { text, data: { data: sections } }
  },
})

/** A section of a guide, with its heading. */
interface GuideSection {
  guide: string
  heading: string
  /** Markdown below the heading, up to the next one. */
  text: string
}

/** How much a word counts in a heading, and how often it counts at most in a text. */
const IN_HEADING = 5
const MOST_COUNTED = 3

/** Returns the sections that have words of the query, best first. Sections with more of the words come first. */
function searchGuides(guides: readonly Guide[], query: string): GuideSection[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_-]{2,}/gu) ?? [])].map(stem)
  return guides
    .flatMap(sectionsOf)
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ section }) => section)
}

/** Removes the ending of a plural or a verb form, so that `retries` finds `retry`. */
function stem(word: string): string {
  if (word.length < 5) return word
  return word.replace(/ies$/, '').replace(/(?:ing|ed|es|s|y)$/, '')
}

function scoreOf({ guide, heading, text }: GuideSection, words: readonly string[]): number {
  const [above, below] = [`${guide} ${heading}`.toLowerCase(), text.toLowerCase()]
  let found = 0
  let score = 0
  for (const word of words) {
    const times = Math.min(below.split(word).length - 1, MOST_COUNTED)
    const own = times + (above.includes(word) ? IN_HEADING : 0)
    if (own > 0) found += 1
    score += own
  }
  return score * found
}

function sectionsOf({ name, text }: Guide): GuideSection[] {
  const sections: GuideSection[] = []
  let isCode = false
  for (const line of text.split(/\r?\n/)) {
    if (line.trimStart().startsWith('```')) isCode = !isCode
    const [, heading] = (isCode ? null : /^#{1,3} (.+)$/.exec(line)) ?? []
    const last = sections.at(-1)
    if (heading !== undefined) sections.push({ guide: name, heading: heading.replaceAll('`', ''), text: '' })
    else if (last !== undefined) last.text += `${line}\n`
  }
  return sections
    .map((section) => ({ ...section, text: section.text.trim() }))
    .filter(({ text: below }) => below !== '')
}
