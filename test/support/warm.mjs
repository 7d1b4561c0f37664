/* Runs commands one after the other in one process, which has loaded them already; see warm.ts. */
import { Readable } from 'node:stream'
import { runCommand, runToItsEnd } from './warm-run.mjs'
import './forward-answers.mjs'
import './names.mjs'

process.on('message', async ({ args, cwd, env, stdin, mark, isLasting }) => {
  const input = Readable.from(stdin === '' ? [] : [Buffer.from(stdin, 'base64')])
  Object.defineProperty(process, 'stdin', { value: input, configurable: true })
  const code = await (isLasting ? runToItsEnd : runCommand)({ args, cwd, env })
  // Windows keeps the working directory of a process from being removed.
  process.chdir(import.meta.dirname)
  for (const stream of [process.stdout, process.stderr])
    await new Promise((resolve) => stream.write(mark, resolve))
  process.send({ code })
})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
