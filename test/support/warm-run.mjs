/* Runs a command in a process that has loaded the program already. */
import { fileURLToPath } from 'node:url'
import { flush, handle, run } from '../../dist/cli/program.js'

const bin = new URL('../../bin/run.js', import.meta.url).href

class Exit {
  constructor(code) {
    this.code = code
  }
}
process.exit = (code = process.exitCode ?? 0) => {
  throw new Exit(code)
}

/** Runs the command to its end, and returns its exit code. */
export async function runCommand({ args, cwd, env }) {
  const before = { ...process.env }
  Object.assign(process.env, env)
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
  process.exitCode = undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal)
  for (const stream of [process.stdout, process.stderr])
    for (const event of ['error', 'drain']) stream.removeAllListeners(event)
  for (const name of Object.keys(env))
    if (name in before) process.env[name] = before[name]
    else delete process.env[name]
  return code
}

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
