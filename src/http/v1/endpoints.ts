import { invalid } from '../../model/validation.ts'
import { viewEndpoint, type ChosenSecretBody } from '../../model/webhook-endpoint.ts'
import { registerEndpoint } from '../../operations/register-endpoint.ts'
import type { Service } from '../../service.ts'
import { created, type Call, type Reply } from '../route.ts'

export interface RegistrationParts {
  service: Pick<Service, 'execute'>
  /** Judges a URL (contract section 9): the form to store it in, or why it may not be registered. */
  judgeDestination: (url: string) => Promise<{ url: string } | { reason: string }>
}

/** Registers an endpoint and answers with its signing secret, which no other answer contains. */
export async function register(
  { service, judgeDestination }: RegistrationParts,
  call: Call,
  body: ChosenSecretBody,
): Promise<Reply> {
  const destination = await judgeDestination(body.url)
  if ('reason' in destination) throw invalid([{ path: 'url', message: destination.reason }])
  const endpoint = await service.execute(registerEndpoint, {
    ...body,
    ...destination,
    location_id: call.key.location_id,
  })
  return created({ ...viewEndpoint(endpoint), signing_secret: endpoint.signing_secret })
}
