/** Entry points of `bin/run.js`: the command framework, and what surrounds every command. */
import { isatty } from 'node:tty'
import { secretForm } from '../model/api-key.ts'
import { variableOf } from '../model/text/shell-command.ts'

export { execute, flush, handle, run } from '@oclif/core'

/** Flags whose values are or may hold secrets. Their environment variables have the same names. */
const secretFlags = [
  'api-key',
  'read-key',
  'secret',
  'store',
  'store-key',
  'header',
  'add-header',
  'state-header',
  'H',
]

const HIDDEN = '…'

/** User name and password of a URL. */
const USER_INFO = /(:\/\/)[^\s/@'"]+(?=@)/g

/** Shorter values would match everywhere in the output. */
const SHORTEST = 4

/**
 * Hides keys and secrets in stderr while `DEBUG` selects the debug output of oclif, which prints the arguments of the
 * command: such output ends up in issues and CI logs. Does nothing while `DEBUG` is for other programs.
 */
export function hideSecretsInDebugOutput(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  stderr: Pick<NodeJS.WriteStream, 'write'>,
): void {
  if (!selectsOclif(environment.DEBUG ?? '')) return
  const secrets = secretsIn(argv, environment)
  const write = stderr.write.bind(stderr) as (...args: unknown[]) => boolean
  stderr.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? withoutSecrets(chunk, secrets) : chunk, ...rest)
}

/** Returns true when a value of `DEBUG`, such as `express:*,ocl*`, may select a name that begins with `oclif`. */
function selectsOclif(debug: string): boolean {
  return debug.split(/[\s,]+/).some((name) => {
    const [start = '', ...wildcards] = name.split('*')
    return start.startsWith('oclif') || (wildcards.length > 0 && 'oclif'.startsWith(start))
  })
}

/** Returns the values of the flags, longest first, also in the quoted forms of debug output. */
function secretsIn(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const values = secretFlags.flatMap((name) => {
    const isShort = name.length === 1
    const flag = isShort ? `-${name}` : `--${name}`
    const typed = argv.flatMap((word, at) => {
      if (word === flag) return argv[at + 1] ?? []
      return word.startsWith(isShort ? flag : `${flag}=`) ? word.slice(flag.length).replace(/^=/, '') : []
    })
    return [...typed, environment[variableOf(name)] ?? []].flat()
  })
  const forms = values.flatMap((value) => [
    value,
    JSON.stringify(value).slice(1, -1),
    value.replaceAll("'", "\\'"),
  ])
  return [...new Set(forms)].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length)
}

/**
 * Ends the process with one line when its output cannot be written, as on a full disk. For help, which does not run as a
 * command; commands report it themselves. Ignores a closed pipe.
 */
export function reportLostOutput(
  stdout: Pick<NodeJS.WriteStream, 'prependListener'>,
  writeError: (text: string) => void,
): void {
  // Before oclif's listener, which throws the error.
  stdout.prependListener('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return
    writeError(`Error: Cannot write the output: ${message}.\n`)
    process.exit(1)
  })
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
    .replace(secretForm, `$1${HIDDEN}`)
    .replace(USER_INFO, `$1${HIDDEN}`)
}

/**
 * Ends the process by SIGHUP when its terminal was closed. Node.js would try to reset the terminal at its end, fail, and
 * abort with a core dump.
 */
export function endWithTerminal(process: NodeJS.Process): void {
  const terminals = [0, 1, 2].filter((stream) => isatty(stream))
  process.once('exit', () => {
    if (process.platform === 'win32' || terminals.every((stream) => isatty(stream))) return
    process.removeAllListeners('SIGHUP')
    process.kill(process.pid, 'SIGHUP')
  })
}
