import type { Client } from '../../client.ts'
import { eventTypes } from '../../model/event.ts'
import { register, unregister } from '../listen/endpoints.ts'
import { dropLease } from '../listen/lease.ts'
import { listenSecret } from '../listen/secret.ts'
import { openStand } from '../listen/stand.ts'
import { parseTarget } from '../listen/target.ts'

type Authority = Parameters<typeof openStand>[0]['authority']

/** A temporary endpoint that passes deliveries on to a receiver on plain HTTP, as `listen` does, while `work` goes on. */
export async function forwarding<T>(
  client: Client,
  {
    to,
    directory,
    service,
    authority,
  }: { to: string; directory: string; service: string; authority: Authority },
  work: (endpointId: string) => Promise<T>,
): Promise<T> {
  const targets = [{ to: parseTarget(to), events: eventTypes, headers: [] }]
  const stand = await openStand({ directory, service, targets, authority, insecure: false })
  try {
    const { registered } = await register(client, stand.routes, await listenSecret(directory))
    return await work(registered[0]?.endpoint.id ?? '')
  } finally {
    await unregister(
      client,
      stand.routes.map(({ url }) => url),
    ).then(() => dropLease(stand.lease), ignoreGone)
    await stand.close()
  }
}

/** The lease stays, and the next `listen` removes what is left. */
function ignoreGone(): void {}
