import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WebhookEndpointView } from '../../src/model/webhook-endpoint.ts'
import { emptyDirectory, startService, tabwire, type RunningService } from './cli.ts'
import { startReceiver, type Receiver } from './https-receiver.ts'

/** A service, and a receiver on HTTPS that is registered for all events, with a certificate of the local authority. */
export interface Pair {
  service: RunningService
  receiver: Receiver
  endpoint: WebhookEndpointView
  stop(): Promise<void>
}

export async function startServiceAndReceiver(): Promise<Pair> {
  const cwd = await emptyDirectory()
  await tabwire(['certs', 'create', '127.0.0.1'], { cwd })
  const [cert = '', key = ''] = await Promise.all(
    ['127.0.0.1.pem', '127.0.0.1-key.pem'].map((name) => readFile(join(cwd, name), 'utf8')),
  )
  const receiver = await startReceiver({ tls: { cert, key } })
  const service = await startService(['--in-memory'], { cwd })
  const endpoint = await service.json<WebhookEndpointView>(
    'endpoints',
    'create',
    receiver.url,
    '--events',
    'all',
  )
  return {
    service,
    receiver,
    endpoint,
    async stop() {
      await service.stop()
      await receiver.close()
    },
  }
}
