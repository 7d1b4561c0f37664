import { isLoopbackBinding } from '../../model/loopback.ts'

/** What is dangerous, or unlike the real service, about what was asked for. */
export function warningsOf(flags: {
  host: string
  insecure: boolean
  'allow-http-loopback': boolean
  seed?: number | undefined
}): string[] {
  return [
    isLoopbackBinding(flags.host)
      ? ''
      : `--host ${flags.host}: the service can be reached from outside of this machine. Requests must carry an API key, or a table's address, and a Host that is allowed.`,
    flags.insecure
      ? "--insecure: receivers' certificates are not checked. Prefer tabwire certs create, or --cacert."
      : '',
    flags['allow-http-loopback']
      ? '--allow-http-loopback: http: endpoints are accepted on loopback; the real service takes HTTPS only.'
      : '',
    flags.seed === undefined
      ? ''
      : `--seed ${flags.seed}: secrets and keys follow from the seed, so that anybody can foretell them. For tests alone. The clock stands still; tabwire clock advance moves it.`,
  ].filter((warning) => warning !== '')
}
