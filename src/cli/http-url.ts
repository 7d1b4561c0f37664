import { Args, Errors, Flags } from '@oclif/core'

/** An absolute `http:` or `https:` URL; whether plain HTTP is accepted is for the service to say. */
export const httpUrlArg = Args.custom({ parse: async (input) => requireHttpUrl(input, 'URL ') })

/** The same as a flag, whose name stands before the message. */
export const httpUrlFlag = Flags.custom({ parse: async (input) => requireHttpUrl(input, '') })

function requireHttpUrl(input: string, name: string): string {
  if (/^https?:\/\//i.test(input) && URL.canParse(input)) return input
  const meant = `https://${input}`
  const hint = /^[\w.-]+(:\d+)?(\/.*)?$/.test(input) && URL.canParse(meant) ? ` Did you mean ${meant}?` : ''
  throw new Errors.CLIError(`${name}must be an http: or https: URL, got ${JSON.stringify(input)}.${hint}`)
}
