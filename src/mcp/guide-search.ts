import type { Guide } from '../model/text/guide.ts'

/** A section of a guide, with its heading. */
export interface GuideSection {
  guide: string
  heading: string
  /** Markdown below the heading, up to the next one. */
  text: string
}

/** How much a word counts in a heading, and how often it counts at most in a text. */
const IN_HEADING = 5
const MOST_COUNTED = 3

/** Returns the sections that have words of the query, best first. Sections with more of the words come first. */
export function searchGuides(guides: readonly Guide[], query: string): GuideSection[] {
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
  for (const line of text.split('\n')) {
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
