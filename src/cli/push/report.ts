import { ApiError, type Client } from '../../client.ts'

/** What the simulator knows of the push beside its answer; nothing from another service, or without the scope. */
export async function reportOf(client: Client, requestId: string) {
  try {
    return (await client.requests.get(requestId)).push
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
