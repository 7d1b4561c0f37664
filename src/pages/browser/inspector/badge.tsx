/** How good a word is, everywhere alike; the word itself is always there, and a sign that differs by shape. */
const moods = {
  good: ['✓', ['delivered', 'succeeded', 'created', 'updated', 'enabled', 'open', 'paid', 'fully paid']],
  wait: ['◔', ['pending', 'retrying', 'held', 'active', 'stale']],
  calm: ['–', ['unchanged', 'closed', 'released', 'never tried']],
} as const

/** A word for the state of something. What is in no list is bad. */
export function Badge({ word }: { word: string }) {
  const [mood, [sign]] = Object.entries(moods).find(([, [, words]]) =>
    (words as readonly string[]).includes(word),
  ) ?? ['bad', ['✗']]
  return (
    <span class={`badge ${mood}`}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  )
}

/** The status of an HTTP answer. Of deliveries only a 2xx is good; of requests, what is refused is so for a reason. */
export function StatusCode({ status, received = false }: { status: number; received?: boolean }) {
  const refused = received ? 'bad' : status < 500 ? 'wait' : 'bad'
  return <span class={`code ${status >= 200 && status < 300 ? 'good' : refused}`}>{status}</span>
}
