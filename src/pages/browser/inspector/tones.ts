/* Apart from the elements, so that it can be tested without a page. */
import { attemptOutcomes } from '../../../model/delivery.ts'

/** Meaning of a status: each has one colour and one sign everywhere. */
type Tone = 'good' | 'wait' | 'calm' | 'bad'

/** Status words by tone. */
const words: Readonly<Record<Tone, readonly string[]>> = {
  good: ['delivered', 'succeeded', 'created', 'updated', 'enabled', 'open', 'paid', 'fully paid'],
  wait: ['pending', 'retrying', 'held', 'active', 'stale', 'partially refunded'],
  calm: ['unchanged', 'closed', 'released', 'refunded', 'removed'],
  bad: [
    'dead',
    'disabled',
    'conflict',
    'refused',
    'fault',
    ...attemptOutcomes.filter((outcome) => outcome !== 'succeeded'),
  ],
}

/** Signs differ by shape, for readers who do not see the colours. */
export const signs: Readonly<Record<Tone, string>> = { good: '✓', wait: '◔', calm: '–', bad: '✗' }

const tones = new Map(
  Object.entries(words).flatMap(([tone, list]) => list.map((word) => [word, tone as Tone] as const)),
)

/** Returns the tone of a status word; a word in no list counts as bad. */
export function toneOf(word: string): Tone {
  return tones.get(word) ?? 'bad'
}

/** Returns the tone of an HTTP status code: 2xx is good, all others are bad. */
export function toneOfCode(status: number): Tone {
  return status >= 200 && status < 300 ? 'good' : 'bad'
}
