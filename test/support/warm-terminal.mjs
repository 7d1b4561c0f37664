/* Runs commands one after the other on a terminal, in one process, which has loaded them already; see tmux.ts. Its argument
 * is a socket, from which commands come as lines of JSON. It prints how each ended. */
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { runCommand } from './warm-run.mjs'

const socket = connect(process.argv[2]).on('close', () => process.kill(process.pid, 'SIGKILL'))
for await (const line of createInterface({ input: socket })) {
  // Empties the screen and its history.
  await new Promise((resolve) => process.stdout.write('\u001b[H\u001b[2J\u001b[3J', resolve))
  const code = await runCommand(JSON.parse(line))
  await new Promise((resolve) => process.stdout.write(`\nended with ${code}\n`, resolve))
  socket.write('ended\n')
}
