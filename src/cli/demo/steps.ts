import { isDeepStrictEqual } from 'node:util'
import { ApiError, type Client, type PushReport } from '../../client.ts'
import { eventTypes, type Envelope } from '../../model/event.ts'
import type { startReceiver } from './receiver.ts'
import type { Check } from '../../model/check.ts'
import type { ClaimView } from '../../model/guests/claim.ts'
import type { FeedbackView } from '../../model/guests/feedback.ts'
import type { PaymentView } from '../../model/guests/payment.ts'

/** One step of the demo. */
export type DemoStep =
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

type DemoSteps<T = void> = AsyncGenerator<DemoStep, T>

/** Actions on one check. Each yields its step and the deliveries that it causes. */
export function createActions(client: Client, receiver: Receiver, externalId: string) {
  let last: Envelope | undefined

  /** Yields the deliveries in the order of their events: those of one action are sent in parallel. */
  async function* delivered(number: number): DemoSteps {
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
    async *register(): DemoSteps {
      const endpoint = await client.endpoints.create({ url: receiver.url, event_types: [...eventTypes] })
      receiver.expect(endpoint.signing_secret)
      yield { type: 'registered', endpoint_id: endpoint.id, url: endpoint.url }
      // The call answers when the ping is delivered.
      await client.endpoints.ping(endpoint.id)
      yield* delivered(1)
    },
    async *push(what: string, body: object, events: number): DemoSteps {
      const { status, requestId, check } = await client.checks.push(externalId, JSON.stringify(body))
      const report = requestId === null ? null : (await client.requests.get(requestId)).push
      yield { type: 'pushed', what, check, report, status }
      yield* delivered(events)
    },
    /**
     * Pushes a body that the service must refuse.
     * @throws Error when it does not.
     */
    async *pushInVain(what: string, body: object): DemoSteps {
      const error = await client.checks
        .push(externalId, JSON.stringify(body))
        .catch((thrown: unknown) => thrown)
      if (error instanceof ApiError)
        yield { type: 'refused', what, status: error.status, code: error.code, message: error.message }
      else if (error instanceof Error) throw error
      else throw new Error(`The service accepted a push that it should refuse: ${what}.`)
    },
    async *guest<T extends Extract<DemoStep, { type: 'guest' }>['resource']>(
      what: string,
      action: Promise<T>,
      events: number,
    ): DemoSteps<T> {
      const resource = await action
      yield { type: 'guest', what, resource, check: await client.checks.get(externalId) }
      yield* delivered(events)
      return resource
    },
    async *compare(): DemoSteps {
      const equal = isDeepStrictEqual(last?.data, await client.checks.get(externalId))
      yield { type: 'compared', what: 'the data of the last event and the check from the API', equal }
    },
  }
}
