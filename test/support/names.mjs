/* Answers names of hosts without a name server: `localhost` and literal addresses have addresses, other names have none. */
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { isIP } from 'node:net'

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

dns.promises.lookup = async (...args) => answer(...args)
dns.lookup = (name, ...rest) => {
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
