/** A successful system call in the log of strace. */
export interface Call {
  name: string
  /** Arguments as strace prints them, with strings and paths. */
  args: string
  /** Bytes of its string arguments, in order. */
  strings: Buffer[]
  /** The file behind its first argument, where that is a descriptor. */
  file: string
  result: number
}

/** The calls of a log of `strace -f -y -xx`, in the order in which they ended. */
export function callsOf(log: string): Call[] {
  const begun = new Map<string, string>()
  return log.split('\n').flatMap((line) => {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(pid, rest.replace(/ *<unfinished \.\.\.>$/, ''))
      return []
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)
    const whole = resumed === null ? rest : `${begun.get(pid) ?? ''}${resumed[1] ?? ''}`
    return callOf(whole) ?? []
  })
}

function callOf(text: string): Call | undefined {
  const [, name = '', args = '', result = ''] = /^(\w+)\((.*)\) += (-?\d+)/s.exec(text) ?? []
  if (name === '' || Number(result) < 0) return undefined
  const strings = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex]) => bytesOf(hex))
  const file = bytesOf(/^\d+<((?:\\x[0-9a-f]{2}|[^>])*)>/.exec(args)?.[1])
  return { name, args, strings, file: file.toString(), result: Number(result) }
}

function bytesOf(hex = ''): Buffer {
  return /^(\\x[0-9a-f]{2})*$/.test(hex) ? Buffer.from(hex.replaceAll('\\x', ''), 'hex') : Buffer.from(hex)
}
