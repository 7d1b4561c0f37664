import { computed } from '@preact/signals'
import { moneyIn } from '../../guest/money.ts'
import { session } from './session-state.ts'

/** Writes amounts as the session's location does. */
export const money = computed(() => {
  const { location = null } = typeof session.value === 'string' ? {} : session.value
  return moneyIn(location?.currency ?? '', navigator.language)
})
