import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { renderClock } from '../../../src/cli/render/controls.ts'

const now = '2026-11-21T18:01:00.000Z'
const moving = { to: '2026-11-21T19:00:00.000Z', waiting_for: [] }

test.each([
  ['running', false, null],
  ['frozen', true, null],
  ['running, advancing to 2026-11-21 19:00:00 UTC', false, moving],
  ['frozen, advancing to 2026-11-21 19:00:00 UTC', true, moving],
])('the clock is %s', (state, frozen, move) => {
  const text = stripVTControlCharacters(renderClock({ now, frozen, offset_ms: 0, moving: move }))
  expect(text).toContain(`state   ${state}\n`)
})
