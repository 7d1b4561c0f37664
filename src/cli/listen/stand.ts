import { newToken } from '../../ids.ts'
import { openServer, type Route } from './door.ts'
import { createRelay } from './relay.ts'
import { takeLease, type KeptLease } from './lease.ts'
import type { Target } from './target.ts'

/** Everything of a `listen` but its endpoints: what stands in for the receivers, and the note in the data directory. */
export interface Stand {
  routes: readonly Route[]
  lease: KeptLease
  close(): Promise<void>
}

interface StandParts {
  directory: string
  /** Origin of the service. */
  service: string
  targets: readonly Target[]
  /** The local one, which the service trusts. */
  authority: {
    certificatePem: string
    issue(hosts: readonly string[]): Promise<{ cert: string; key: string }>
  }
  insecure: boolean
}

/** Opens the door for deliveries, and says so in the data directory before anything is registered. */
export async function openStand({
  directory,
  service,
  targets,
  authority,
  insecure,
}: StandParts): Promise<Stand> {
  const token = newToken()
  const relay = createRelay({ ca: authority.certificatePem, insecure })
  const tls = await authority.issue(['localhost', '127.0.0.1'])
  const door = await openServer({ tls, targets, relay, token })
  const { routes } = door
  const lease = await takeLease(directory, token, { service, urls: routes.map(({ url }) => url) })
  return {
    routes,
    lease,
    async close() {
      await door.close()
      await relay.close()
    },
  }
}
