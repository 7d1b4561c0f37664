/** A section of the service reference, with the numbers of its rules. */
export interface Section {
  text: string
  rules: readonly number[]
}

/** The sections by name, `specification 4` or `contract 6`. */
export function sectionsOf(reference: string): Map<string, Section> {
  const [, ...parts] = reference.split(/^## (?=(?:Specification|Contract) section \d+: )/m)
  return new Map(
    parts.map((part) => {
      const [, kind = '', number = ''] = /^(\w+) section (\d+): /.exec(part) ?? []
      const text = part.replace(/\n# [^]*$/, '\n')
      const rules = Array.from(text.matchAll(/^(\d+)\. /gm), ([, rule]) => Number(rule))
      return [`${kind.toLowerCase()} ${number}`, { text, rules }]
    }),
  )
}

export interface Citation {
  /** `specification 4` */
  section: string
  rules: readonly number[]
  /** As it is written. */
  words: string
}

const NUMBERS = String.raw`\d+(?:(?:, | and |, and | to | or )\d+)*`
const SECTIONS = new RegExp(
  String.raw`\b(?:(specification|contract)(?:'s|,)? )?sections? (${NUMBERS})(?:, (?:rule|step)s? (${NUMBERS}))?`,
  'gi',
)
/** Sections of other documents: `RFC 9110 section 7.6.1`. */
const FOREIGN = /\b(?:RFC \d+|of RFC \d+),? section [\d.]+/gi

/**
 * Finds citations such as "specification section 4, rule 3", "specification sections 2 and 4" and "contract section 6, rules 1
 * to 4". A section without a document belongs to the document that was named last before it, else to `usual`.
 */
export function citationsIn(text: string, usual?: 'specification' | 'contract'): Citation[] {
  // Comments go on in the next line after an asterisk or slashes.
  const joined = text.replace(FOREIGN, '').replace(/\s*\n\s*(?:\*|\/\/)? */g, ' ')
  let last = usual
  const found: Citation[] = []
  const marks = new RegExp(String.raw`\bthe (contract|specification)\b|${SECTIONS.source}`, 'gi')
  for (const [words, mentioned, named, sections = '', rules = ''] of joined.matchAll(marks)) {
    const document = (mentioned ?? named)?.toLowerCase() as typeof usual
    if (document !== undefined) last = document
    if (sections === '' || last === undefined) continue
    const numbers = numbersIn(sections)
    for (const [index, number] of numbers.entries())
      found.push({
        section: `${last} ${number}`,
        rules: index === numbers.length - 1 ? numbersIn(rules) : [],
        words,
      })
  }
  return found
}

/** `1 to 4` and `2, 5 and 6` as numbers. */
function numbersIn(text: string): number[] {
  const listed = Array.from(text.matchAll(/(\d+) to (\d+)|\d+/g), ([one, from, to]) =>
    from === undefined
      ? [Number(one)]
      : Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index),
  )
  return listed.flat()
}

/** The citations that lead to no heading, or to no rule below it. */
export function unresolved(citations: readonly Citation[], sections: ReadonlyMap<string, Section>): string[] {
  return citations
    .filter(({ section, rules }) => {
      const found = sections.get(section)
      return found === undefined || rules.some((rule) => !found.rules.includes(rule))
    })
    .map(({ section, words }) => `${words} (${section})`)
}
