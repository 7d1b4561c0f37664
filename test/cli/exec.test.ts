import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { exitCodeOf, runCommand } from '../../src/cli/exec.ts'
import { emptyDirectory } from '../support/cli.ts'

const processWith = (pid: number | undefined) => Object.assign(new EventEmitter(), { pid })
const errorOf = (syscall: string, code: string) => Object.assign(new Error(code), { syscall, code })

test.each([
  ['has no process', undefined],
  ['is looked for by cmd.exe on Windows, which has a process', 4711],
])('a missing command is not found when it %s', async (_way, pid) => {
  const child = processWith(pid)
  const ended = exitCodeOf(child, 'soup')
  child.emit('error', errorOf('spawn soup', 'ENOENT'))
  await expect(ended).rejects.toMatchObject({ code: 'command_not_found', exitCode: 127 })
})

test('a signal that may not be sent leaves the exit code to the command', async () => {
  const child = processWith(4711)
  const ended = exitCodeOf(child, 'soup')
  child.emit('error', errorOf('kill', 'EPERM'))
  child.emit('exit', 5, null)
  expect(await ended).toBe(5)
})

test.skipIf(process.platform === 'win32')(
  'a command that ignores the signal is killed after five seconds',
  async () => {
    const ready = join(await emptyDirectory(), 'ready')
    const program = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)
      require('node:fs').writeFileSync(${JSON.stringify(ready)}, '')`
    const running = await runCommand([process.execPath, '-e', program], {})
    await expect.poll(() => existsSync(ready)).toBe(true)
    const kill = vi.spyOn(process, 'kill')
    const signals = () => kill.mock.calls.map(([, signal]) => signal)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    running.signal('SIGTERM')
    vi.advanceTimersByTime(4_999)
    expect(signals()).toEqual(['SIGTERM'])
    vi.advanceTimersByTime(1)
    expect(signals()).toEqual(['SIGTERM', 'SIGKILL'])
    expect(await running.ended).toBe(137)
  },
)
