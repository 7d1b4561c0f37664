/* Loaded before a command: writes down, and prevents, every call of another machine and every program that is run. */
import childProcess from 'node:child_process'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const own = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/

function refuse(what) {
  appendFileSync(process.env.NO_WAY_OUT, `${what}\n`)
  throw new Error(`${what} is not allowed here.`)
}

const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function (...args) {
  const [first] = args.flat()
  const host = typeof first === 'object' ? (first.path === undefined ? first.host : 'localhost') : args[1]
  if (!own.test(host ?? 'localhost')) refuse(`connect ${host}`)
  return connect.apply(this, args)
}
for (const at of [dns, dns.promises])
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
    const real = at[name]
    at[name] = (host, ...rest) => (own.test(host) ? real(host, ...rest) : refuse(`${name} ${host}`))
  }
for (const name of ['spawn', 'exec', 'execFile', 'spawnSync', 'execSync', 'execFileSync'])
  childProcess[name] = (...args) => refuse(`${name} ${args.flat().join(' ')}`)
syncBuiltinESMExports()
