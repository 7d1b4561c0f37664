import { expect, test } from 'vitest'
import { createScreen } from '../../../src/cli/tail/screen.ts'

/** A terminal that writes down what it is sent. */
function terminal(columns: number) {
  const seat = {
    written: '',
    width: columns,
    write: (text: string) => void (seat.written += text),
    columns: () => seat.width,
  }
  return seat
}

test('lines come above the status, which is the last thing that is written', () => {
  const seat = terminal(80)
  const screen = createScreen(seat, () => 'status')
  screen.open()
  screen.above(() => seat.write('line\n'))
  expect(seat.written).toBe('\u001b[?25lstatus\r\u001b[Jline\nstatus')
})

test('a terminal that becomes narrower leaves no piece of the status behind', () => {
  const seat = terminal(40)
  const screen = createScreen(seat, () => 'x'.repeat(39))
  screen.open()
  seat.written = ''
  seat.width = 15
  screen.resized()
  expect(seat.written.startsWith('\u001b[2A\r\u001b[J')).toBe(true)
})

test('closing clears the status and shows the cursor, once, and lines still come', () => {
  const seat = terminal(80)
  const screen = createScreen(seat, () => 'status')
  screen.open()
  seat.written = ''
  screen.close()
  screen.close()
  screen.above(() => seat.write('after\n'))
  screen.redraw()
  screen.resized()
  expect(seat.written).toBe('\r\u001b[J\u001b[?25hafter\n')
})
