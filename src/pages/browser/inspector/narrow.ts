import { signal } from '@preact/signals'

const query = matchMedia('(max-width: 44rem)')

/** Whether rows take two lines, as on a phone. */
export const isNarrow = signal(query.matches)

query.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})
