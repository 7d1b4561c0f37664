import { spawn } from 'node:child_process'
import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Shows a text in the user's pager: PAGER, or `less`, which exits at once when the text fits the terminal. Resolves with false
 * when there is no pager; then nothing was shown. On Windows, only PAGER counts. A signal that ended the pager has reached this
 * process, too, when this resolves.
 */
export async function showInPager(text: string): Promise<boolean> {
  const { PAGER = process.platform === 'win32' ? '' : 'less' } = process.env
  if (PAGER === '' || PAGER === 'cat') return false
  // A shell, since PAGER may have arguments; LESS as git sets it: exit if it fits, keep colours and the text.
  const pager = spawn(PAGER, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...process.env },
  })
  // The reader may quit before the end of the text.
  pager.stdin.on('error', () => undefined)
  pager.stdin.end(text)
  const isShown = await new Promise<boolean>((resolve) => {
    pager.once('error', () => resolve(false))
    // Shells end with 126 or 127 when they cannot run it, cmd.exe with another code.
    const isMissing = (code: number | null) =>
      process.platform === 'win32' ? code !== 0 : code === 126 || code === 127
    pager.once('exit', (code) => resolve(!isMissing(code)))
  })
  // The end of the pager and the signal come in any order, in one turn.
  await nextTurn()
  return isShown
}
