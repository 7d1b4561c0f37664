/* Answers names of hosts without a name server: `localhost` and addresses in any form have addresses, other names have none. */
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { isIP } from 'node:net'

/** Addresses as numbers, such as `0x7f.1`, which the system reads without a name server. */
const numeric = /^(0x[\da-f]+|\d+)(\.(0x[\da-f]+|\d+)){0,3}$/i

const addresses = (name) =>
  isIP(name) !== 0 ? [name] : /(^|\.)localhost\.?$/.test(name) ? ['127.0.0.1'] : undefined

function answer(name, options = {}) {
  const found = addresses(name)?.map((address) => ({ address, family: isIP(address) }))
  if (found !== undefined) return options.all === true ? found : found[0]
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {
    code: 'ENOTFOUND',
    errno: -3008,
    syscall: 'getaddrinfo',
    hostname: name,
  })
}

const real = { lookup: dns.lookup, promise: dns.promises.lookup }
dns.promises.lookup = async (...args) => (numeric.test(args[0]) ? real.promise(...args) : answer(...args))
dns.lookup = (name, ...rest) => {
  if (numeric.test(name)) return real.lookup(name, ...rest)
  const [callback, options = {}] = rest.reverse()
  const settings = typeof options === 'number' ? { family: options } : options
  process.nextTick(() => {
    try {
      const found = answer(name, settings)
      if (Array.isArray(found)) callback(null, found)
      else callback(null, found.address, found.family)
    } catch (error) {
      callback(error)
    }
  })
}
syncBuiltinESMExports()
