import { Errors } from '@oclif/core'

/** Flags that mean something when they are empty, or have their own words for it. */
const MAY_BE_EMPTY: readonly string[] = ['api-key', 'comment', 'header', 'name', 'secret']

/** What was typed, as the parser tells it. */
interface Typed {
  args: Readonly<Record<string, unknown>>
  raw: readonly { type: string; flag?: string; arg?: string; input: string }[]
}

/** @throws CLIError for an argument or a flag that was typed and is empty, as `"$ID"` is when nothing has set it. */
export function requireFilled({ args, raw }: Typed): void {
  const names = Object.keys(args)
  for (const token of raw) {
    if (token.input !== '') continue
    if (token.type === 'arg') throw empty((token.arg ?? names.at(-1) ?? 'argument').toUpperCase())
    if (!MAY_BE_EMPTY.includes(token.flag ?? '')) throw empty(`--${token.flag}`)
  }
}

function empty(name: string): Error {
  return new Errors.CLIError(`${name} must not be empty.`)
}
