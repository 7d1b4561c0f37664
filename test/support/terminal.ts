import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { spawnProcess, type Running, type RunOptions } from './cli.ts'

const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url))

/** Runs a command on a terminal of its own and copies what it shows; SIGUSR1 presses Ctrl-C. */
const program = `
import fcntl, os, pty, signal, struct, sys, termios
columns, command = int(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    os.execvp(command[0], command)
signal.signal(signal.SIGUSR1, lambda *_: os.write(terminal, b'\\x03'))
while True:
    try:
        shown = os.read(terminal, 65536)
    except OSError:
        break
    if not shown:
        break
    os.write(1, shown)
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`

/** Whether terminals can be had here: Python's `pty` makes them, which Windows has not. */
export const hasTerminals = isThere()

/** A command on a terminal: all that it shows, on both streams, comes as `stdout`. */
export interface OnTerminal extends Running {
  pressCtrlC(): void
}

/** Runs `tabwire` on a terminal of so many columns. */
export async function onTerminal(
  args: readonly string[],
  { columns = 80, ...options }: RunOptions & { columns?: number } = {},
): Promise<OnTerminal> {
  const command = [String(columns), process.execPath, bin, ...args]
  const running = await spawnProcess('python3', ['-c', program, ...command], options)
  return { ...running, pressCtrlC: () => void running.child.kill('SIGUSR1') }
}

function isThere(): boolean {
  try {
    execFileSync('python3', ['-c', 'import pty'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
