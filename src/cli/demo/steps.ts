import { isDeepStrictEqual } from 'node:util'
import { ApiError, type Client, type PushReport } from '../../client.ts'
import { eventTypes, type Envelope } from '../../model/event.ts'
import type { startReceiver } from './receiver.ts'
import type { Check } from '../../model/check.ts'
import type { ClaimView } from '../../model/claim.ts'
import type { FeedbackView } from '../../model/feedback.ts'
import type { PaymentView } from '../../model/payment.ts'

/** One thing that happened in the demo, in order. */
export type Scene =
  | { type: 'registered'; endpoint_id: string; url: string }
  | { type: 'pushed'; what: string; check: Check; report: PushReport | null; status: number }
  | { type: 'refused'; what: string; status: number; code: string; message: string }
  | { type: 'guest'; what: string; resource: ClaimView | PaymentView | FeedbackView; check: Check }
  | {
      type: 'delivered'
      event_type: string
      event_id: string
      over_tls: boolean
      verified: boolean
      bytes: number
    }
  | { type: 'compared'; what: string; equal: boolean }

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

type Scenes<T = void> = AsyncGenerator<Scene, T>

/** What may be done in the demo with one check; each yields what was done, and the deliveries that came of it. */
export function createStage(client: Client, receiver: Receiver, externalId: string) {
  let last: Envelope | undefined

  /** In the order of their events: those of one deed are sent side by side. */
  async function* delivered(number: number): Scenes {
    const received = []
    while (received.length < number) received.push(await receiver.next())
    const idOf = ({ body }: { body: string }) => (JSON.parse(body) as Envelope).id
    for (const one of received.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))) {
      last = JSON.parse(one.body) as Envelope
      yield {
        type: 'delivered',
        event_type: last.type,
        event_id: last.id,
        over_tls: one.encrypted,
        verified: one.verified,
        bytes: Buffer.byteLength(one.body),
      }
    }
  }

  return {
    async *register(): Scenes {
      const endpoint = await client.endpoints.create({ url: receiver.url, event_types: [...eventTypes] })
      receiver.expect(endpoint.signing_secret)
      yield { type: 'registered', endpoint_id: endpoint.id, url: endpoint.url }
      // The ping is answered once its delivery is.
      await client.endpoints.ping(endpoint.id)
      yield* delivered(1)
    },
    async *push(what: string, body: object, events: number): Scenes {
      const { status, requestId, check } = await client.checks.push(externalId, JSON.stringify(body))
      const report = requestId === null ? null : (await client.requests.get(requestId)).push
      yield { type: 'pushed', what, check, report, status }
      yield* delivered(events)
    },
    /** A push that must not be taken; that it was is told as what it is. */
    async *pushInVain(what: string, body: object): Scenes {
      const error = await client.checks
        .push(externalId, JSON.stringify(body))
        .catch((thrown: unknown) => thrown)
      if (error instanceof ApiError)
        yield { type: 'refused', what, status: error.status, code: error.code, message: error.message }
      else if (error instanceof Error) throw error
      else throw new Error(`The service took what it should have refused: ${what}.`)
    },
    async *guest<T extends Extract<Scene, { type: 'guest' }>['resource']>(
      what: string,
      deed: Promise<T>,
      events: number,
    ): Scenes<T> {
      const resource = await deed
      yield { type: 'guest', what, resource, check: await client.checks.get(externalId) }
      yield* delivered(events)
      return resource
    },
    async *compare(): Scenes {
      const equal = isDeepStrictEqual(last?.data, await client.checks.get(externalId))
      yield { type: 'compared', what: "the last event's data and GET of the check", equal }
    },
  }
}
