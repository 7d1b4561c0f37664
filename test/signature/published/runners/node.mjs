// Runs signature vectors against fixtures/receivers/node.mjs. Arguments: the receiver, the vectors.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const [, , receiver, file] = process.argv
// The module also starts a server, which ends with this process.
Object.assign(process.env, { WEBHOOK_SECRET: 'whsec_unused', PORT: '0' })
const { isGenuine } = await import(pathToFileURL(receiver).href)
const { vectors } = JSON.parse(readFileSync(file, 'utf8'))
const failed = vectors.filter(({ secret, header, body, now, tolerance, verdict }) => {
  const genuine = isGenuine(secret, header ?? '', Buffer.from(body, 'base64'), now, tolerance)
  return verdict !== 'either' && genuine !== (verdict === 'accepted')
})
for (const { name } of failed) process.stderr.write(`${name}\n`)
process.stdout.write(`node: ${vectors.length - failed.length} of ${vectors.length}\n`)
process.exit(failed.length === 0 ? 0 : 1)
