import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { exitCodeOf } from '../../src/cli/exec.ts'

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
