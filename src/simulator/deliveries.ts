import { setNewest } from '../model/bounded-map.ts'
import { globalClock, isMovable, type Clock } from '../clock.ts'
import { createClockControls, type ClockControls } from '../delivery/clock-controls.ts'
import { createDeliver } from '../delivery/deliver.ts'
import { createDestinationPolicy, type OwnAddress } from '../delivery/destination/policy.ts'
import { normalUrl } from '../delivery/destination/url.ts'
import type { DeliveryFaults } from '../delivery/faults/faults.ts'
import { createClockFile } from '../delivery/clock-file.ts'
import { createPump, type Pump, type PumpLimits } from '../delivery/pump.ts'
import { createInProcessReceivers } from '../delivery/send/in-process.ts'
import { createOffers, resultOf } from '../delivery/send/offers.ts'
import { createSender } from '../delivery/send/send.ts'
import { createStateControls } from '../delivery/state-controls.ts'
import type { Delivery } from '../model/delivery.ts'
import type { OfferParts } from '../http/sim/offers.ts'
import { answerOffer } from '../operations/offer-attempt.ts'
import { longestAttempt } from '../simulator-options.ts'
import { Refusal } from '../model/refusal.ts'
import type { Service } from '../service.ts'
import type { Parts } from './parts.ts'
import { resetTarget, measureOf } from './clock.ts'
import { createRestarts, pausedByReplacement, untilKnownElsewhere } from './sharing.ts'

/** Parts of the service that deliveries need. */
interface DeliveryContext {
  faults: DeliveryFaults
  clearFaults: () => Promise<void>
  own: { readonly address?: OwnAddress }
  isStopping: () => boolean
}

/** Opens deliveries: address policy, TLS trust, and the pump. */
export function openDeliveries(
  service: Service,
  parts: Parts,
  { faults, clearFaults, own, isStopping }: DeliveryContext,
) {
  const { clock, dataDirectory, authorityDirectory = dataDirectory, onError } = parts
  const { values, instance, shared } = parts
  const policy = createDestinationPolicy({
    allowHttpLoopback: parts.allowHttpLoopback ?? false,
    allowHttpHosts: parts.allowHttpHosts ?? [],
    denyPrivate: parts.denyPrivate ?? false,
    loopbackOnly: (parts.network ?? (parts.port === false ? 'loopback' : 'any')) === 'loopback',
    own,
  })
  const local = async () => {
    if (authorityDirectory === undefined) return undefined
    const { readAuthorityCertificate } = await import('../certificates/authority.ts')
    return readAuthorityCertificate(authorityDirectory)
  }
  const trust = { ca: parts.ca ?? [], insecure: parts.insecure ?? false, local }
  const receivers = createInProcessReceivers()
  const thrown = createThrown()
  const times = parts.deliveryTimes
  const { timeoutMs, bodyTimeoutMs } = times
  const sender = createSender({
    policy,
    trust,
    timeoutMs,
    bodyTimeoutMs,
    measure: measureOf(parts),
    receivers,
  })
  const deliver = createDeliver({
    service,
    sender,
    offers: createOffers({ service, timeoutMs: timeoutMs + bodyTimeoutMs, measure: measureOf(parts) }),
    clock,
    faults,
    signClock: parts.signTime === 'virtual' ? clock : globalClock,
    serviceName: parts.serviceName,
    inOrder: parts.seed !== undefined,
    withoutDate: parts.seed !== undefined,
    newSpanId: parts.trace === true ? parts.newSpanId : undefined,
    disableAfter: parts.disableAfter,
    onThrown: thrown.add,
  })
  let started: Pump | undefined
  // Deliveries of an earlier run are due at once. They wait for the listener's address, which the policy needs.
  const pump = () =>
    (started ??= createPump({
      service,
      deliver,
      clock,
      slots:
        parts.shared &&
        pausedByReplacement(parts.shared.openSlots({ ...times, attemptMs: longestAttempt(times) }), parts),
      requestMs: times.timeoutMs + times.bodyTimeoutMs,
      limits: limitsOf(parts),
      onError(error) {
        const isAway = error instanceof Refusal && error.code === 'storage_unavailable'
        // The store of a database says once that it is away.
        if (shared === undefined || !isAway) onError(error)
      },
    }))
  const backlog = () => pump().backlog()
  const clockFile = createClockFile(shared === undefined ? dataDirectory : undefined)
  const controls: ClockControls | undefined = isMovable(clock)
    ? createClockControls({
        clock,
        values,
        instance,
        refresh: shared?.bringUpToDate,
        generation: service.generation,
        untilKnown: untilKnownElsewhere(parts),
        waitingFor: shared && (() => dueNow(service, clock)),
        backlog,
        onCommit: service.onCommit,
        clockFile,
        isStopping,
      })
    : undefined
  const interrupt: Pump['interrupt'] = (work) => pump().interrupt(work)
  const restarts = createRestarts(service, parts)

  return {
    clock: controls,
    state:
      controls &&
      createStateControls({
        service,
        clock: controls,
        interrupt,
        resetTarget: () => resetTarget(parts),
        clearFaults,
        onReplace: parts.onReplace,
        restarts,
      }),
    async judgeDestination(url: string) {
      const reason =
        receivers.find(url) === undefined ? await policy.whyRefused(url) : policy.whyTextRefused(url)
      return reason === undefined ? { url: normalUrl(url) } : { reason }
    },
    lookup: policy.lookup,
    authorities: async () => [...trust.ca, ...[await trust.local()].filter((pem) => pem !== undefined)],
    receive: receivers.add,
    thrownBy: thrown.get,
    begin: () => void pump(),
    attempt: (id: string) => pump().attempt(id),
    async idle(signal?: AbortSignal): Promise<void> {
      await pump().idle(signal)
    },
    async stop(graceMs: number) {
      await started?.stop({ graceMs })
      await controls?.ended()
      await sender.close()
    },
  }
}

/** Returns the call by which a running `tabwire listen` answers an attempt that any instance offered. */
export function createAnswerOffered(service: Pick<Service, 'execute'>): OfferParts['answerOffered'] {
  return ({ answer, ...attempt }) =>
    service.execute(answerOffer, { ...attempt, offer_id: answer.offer, result: resultOf(answer) })
}

/** Most deliveries of {@link dueNow}. */
const MOST_DUE = 10

/** Returns the ids of deliveries that are due or in flight at any instance. */
async function dueNow(service: Pick<Service, 'due'>, clock: Clock): Promise<readonly string[]> {
  const { deliveries } = await service.due({ now: clock.now(), perEndpoint: MOST_DUE, wanted: MOST_DUE })
  return deliveries.slice(0, MOST_DUE).map(({ id }) => id)
}

/** In a seeded run, sends one delivery at a time to each endpoint, so that a receiver gets them in one order. */
function limitsOf({ seed }: Parts): Partial<PumpLimits> {
  return seed === undefined ? {} : { perEndpoint: 1 }
}

/** Number of receivers' errors that are kept, the newest ones. */
const MOST_THROWN = 1_000

/** Records the last error of in-process receivers, by delivery id. */
function createThrown() {
  const errors = new Map<string, { attempt: number; error: unknown }>()
  return {
    /** Returns the error of the newest attempt only; an older one does not explain its failure. */
    get({ id, attempts }: Pick<Delivery, 'id' | 'attempts'>): unknown {
      const last = errors.get(id)
      return last?.attempt === attempts.length ? last.error : undefined
    },
    add(deliveryId: string, attempt: number, error: unknown): void {
      setNewest(errors, deliveryId, { attempt, error }, MOST_THROWN)
    },
  }
}
