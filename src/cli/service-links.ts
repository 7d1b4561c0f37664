/**
 * Variables of the environment without those that Kubernetes sets in every pod for a service named `tabwire`:
 * `TABWIRE_PORT=tcp://10.0.0.1:4100` is an address of that service, and not the port to listen on.
 */
export function withoutServiceLinks(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const { TABWIRE_PORT: port = '', ...others } = environment
  return /^(tcp|udp|sctp):\/\//.test(port) ? others : { ...environment }
}
