/* Runs a command in a process that has loaded the program already. */
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { flush, handle, run } from '../../dist/cli/program.js'

const bin = new URL('../../bin/run.js', import.meta.url).href

class Exit {
  constructor(code) {
    this.code = code
  }
}
const exit = process.exit.bind(process)
const exitByException = (code = process.exitCode ?? 0) => {
  throw new Exit(code)
}

/** Runs the command to its end, and returns its exit code. A command that ends the process itself only seems to. */
export function runCommand(command) {
  process.exit = exitByException
  return runWith(command, codeOf)
}

/**
 * Runs the command until nothing keeps its process alive, and returns its exit code. Ends the process where the command does,
 * and where it fails by an unknown error.
 */
export async function runToItsEnd(command) {
  const before = process.getActiveResourcesInfo().length
  const isBusy = () => process.getActiveResourcesInfo().length > before
  process.exit = exit
  let hasExited = false
  const code = await runWith(command, (error) => {
    if (error.code !== 'EEXIT') return handle(error)
    hasExited = true
    return error.oclif.exit
  })
  for (let waited = 0; isBusy(); waited += 2) {
    if (hasExited && waited > 200) exit(code)
    await pause(2, undefined, { ref: false })
  }
  return code
}

async function runWith({ args, cwd, env }, codeOfError) {
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
    code = await codeOfError(error)
  }
  process.exitCode = undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK']) process.removeAllListeners(signal)
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
