import { Args, Errors, Flags } from '@oclif/core'

/** An absolute `http:` or `https:` URL; whether plain HTTP is accepted is for the service to say. */
export const httpUrlArg = Args.custom({
  parse: async (input) => requireUrl(input, 'URL ', 'http: or https:'),
})

/** The same as a flag, whose name stands before the message. */
export const httpUrlFlag = Flags.custom({ parse: async (input) => requireUrl(input, '', 'http: or https:') })

/** A flag that takes an absolute `https:` URL. */
export const httpsUrlFlag = Flags.custom({ parse: async (input) => requireUrl(input, '', 'https:') })

function requireUrl(input: string, name: string, wanted: 'http: or https:' | 'https:'): string {
  const start = wanted === 'https:' ? /^https:\/\//i : /^https?:\/\//i
  if (start.test(input) && URL.canParse(input)) return input
  const meant = `https://${input}`
  const hint = /^[\w.-]+(:\d+)?(\/.*)?$/.test(input) && URL.canParse(meant) ? ` Did you mean ${meant}?` : ''
  throw new Errors.CLIError(`${name}must be an ${wanted} URL, got ${JSON.stringify(input)}.${hint}`)
}
