/* Runs commands one after the other in this process, whose folder is a hostile clone, and prints what came of each as one
 * line of JSON. Arguments: the commands as JSON, and the file in which no-way-out.mjs writes down what it prevented. */
import { readFileSync, writeFileSync } from 'node:fs'
import { run } from '../../dist/cli/program.js'

const [, , commands, log] = process.argv
const bin = new URL('../../bin/run.js', import.meta.url)
const output = process.stdout.write.bind(process.stdout)
process.setMaxListeners(0)

class Exit extends Error {}
process.exit = (code) => {
  throw new Exit(String(code ?? process.exitCode ?? 0))
}

for (const args of JSON.parse(commands)) {
  writeFileSync(log, '')
  process.exitCode = undefined
  let text = ''
  for (const stream of [process.stdout, process.stderr])
    stream.write = (chunk) => {
      text += chunk
      return true
    }
  const timeout = new Promise((resolve) => setTimeout(resolve, 40_000, 'it goes on').unref())
  const ended = await Promise.race([
    run(args, bin.href).then(
      () => 'ended',
      (error) => (error instanceof Exit || error?.oclif?.exit !== undefined ? 'ended' : String(error)),
    ),
    timeout,
  ])
  output(`${JSON.stringify({ args, ended, text, log: readFileSync(log, 'utf8') })}\n`)
}
process.reallyExit(0)
