import { DEFAULT_SERVICE_NAME, parseServiceName } from '../model/service-name.ts'

interface Place {
  url: string
  /** PEM of the authority that issued the service's certificate. */
  ca?: string | undefined
}

/** Longest wait for the service to tell its name, in milliseconds: a busy one must not pass for one without a name. */
const PATIENCE_MS = 10_000

/** The name that a running service tells at `/_sim/health`, or the default one where it tells none. */
export async function serviceNameAt({ url, ca }: Place): Promise<string> {
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({ connect: { timeout: PATIENCE_MS, ...(ca !== undefined && { ca }) } })
  try {
    const health = `${url.replace(/\/+(v1\/?)?$/, '')}/_sim/health`
    const { body } = await request(health, { dispatcher, signal: AbortSignal.timeout(PATIENCE_MS) })
    const { service_name: name } = (await body.json()) as { service_name?: unknown }
    return (typeof name === 'string' ? parseServiceName(name) : undefined) ?? DEFAULT_SERVICE_NAME
  } catch {
    return DEFAULT_SERVICE_NAME
  } finally {
    await dispatcher.destroy()
  }
}
