/* The library's types, checked with those of its own declaration files. */
import { createSimulator, NotDelivered, type Simulator, type SimulatorOptions } from 'tabwire'
import { ApiError, createClient, type Client } from 'tabwire/client'
import { parseEvent, verify, type WebhookEvent } from 'tabwire/signature'
import { sign } from 'tabwire/signature/web'

const options: SimulatorOptions = { port: 0, seed: 7, network: 'any', ref: true }
export const simulator: Simulator = await createSimulator(options)
export const client: Client = createClient({ url: simulator.url, fetch: simulator.fetch })
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError || error instanceof NotDelivered

export async function take(payload: string): Promise<WebhookEvent | undefined> {
  const header: string = await sign({ payload, secret: 'whsec_x' })
  const [delivery] = await simulator.deliveries.waitFor({ type: 'check.created' })
  if (delivery.status === 'dead') return undefined
  return verify({ payload, header, secret: 'whsec_x' }).ok ? parseEvent(payload) : undefined
}
