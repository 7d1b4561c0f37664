/* Runs commands one after the other in one process, which has loaded them already; see warm.ts. */
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { flush, handle, run } from '../../dist/cli/program.js'
import './forward-answers.mjs'

const bin = new URL('../../bin/run.js', import.meta.url).href

class Exit {
  constructor(code) {
    this.code = code
  }
}
process.exit = (code = process.exitCode ?? 0) => {
  throw new Exit(code)
}

process.on('message', async ({ args, cwd, env, stdin, mark }) => {
  const before = { ...process.env }
  Object.assign(process.env, env)
  const input = Readable.from(stdin === '' ? [] : [Buffer.from(stdin, 'base64')])
  Object.defineProperty(process, 'stdin', { value: input, configurable: true })
  process.argv = [process.execPath, fileURLToPath(bin), ...args]
  process.chdir(cwd)
  process.exitCode = undefined
  let code
  try {
    await run(args, bin)
    await flush()
    code = process.exitCode ?? 0
  } catch (error) {
    code = await codeOf(error)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal)
  for (const stream of [process.stdout, process.stderr]) {
    for (const event of ['error', 'drain']) stream.removeAllListeners(event)
    await new Promise((resolve) => stream.write(mark, resolve))
  }
  for (const name of Object.keys(env))
    if (name in before) process.env[name] = before[name]
    else delete process.env[name]
  process.send({ code })
})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

async function codeOf(error) {
  if (error instanceof Exit) return error.code
  // oclif's own way to end: its handler takes the exception above for a bug.
  if (error.code === 'EEXIT') return error.oclif.exit
  try {
    await handle(error)
  } catch (exit) {
    if (exit instanceof Exit) return exit.code
  }
  return 1
}
