import { expect, test } from 'vitest'
import { createScreen } from '../../../src/cli/tail/live-view.ts'

/** A terminal that writes down what it is sent. */
function openTerminal(columns: number) {
  const terminal = {
    written: '',
    width: columns,
    write: (text: string) => void (terminal.written += text),
    columns: () => terminal.width,
  }
  return terminal
}

test('lines are printed above the status, which is drawn again at the end', () => {
  const terminal = openTerminal(80)
  const screen = createScreen(terminal, () => 'status')
  screen.open()
  screen.above(() => terminal.write('line\n'))
  expect(terminal.written).toBe('\u001b[?25lstatus\r\u001b[Jline\nstatus')
})

test('the whole status is cleared when the terminal becomes narrower', () => {
  const terminal = openTerminal(40)
  const screen = createScreen(terminal, () => 'x'.repeat(39))
  screen.open()
  terminal.written = ''
  terminal.width = 15
  screen.resized()
  expect(terminal.written.startsWith('\u001b[2A\r\u001b[J')).toBe(true)
})

test('closing clears the status and shows the cursor once, and later lines are still printed', () => {
  const terminal = openTerminal(80)
  const screen = createScreen(terminal, () => 'status')
  screen.open()
  terminal.written = ''
  screen.close()
  screen.close()
  screen.above(() => terminal.write('after\n'))
  screen.redraw()
  screen.resized()
  expect(terminal.written).toBe('\r\u001b[J\u001b[?25hafter\n')
})
