import chalk from 'chalk'
import { eventTypes } from '../../model/event.ts'
import type { AttemptMessage } from '../../client.ts'
import type { Registered } from '../listen/endpoints.ts'
import { renderBody } from './body.ts'
import { renderAttempt } from './attempt-line.ts'
import { renderFields, renderer } from './text.ts'
import { count } from './words.ts'

/** What `listen` says when it is ready: what goes where, and the secret, unless that went to a file. */
export const renderListening = renderer((registered: readonly Registered[], secret: string): string => {
  const routes = registered.map(({ endpoint, target }): [string, string] => [
    'forward',
    `${eventsOf(endpoint.event_types)} → ${chalk.bold(target.to.href)}  ${chalk.dim(endpoint.id)}`,
  ])
  return `${chalk.green('Listening.')}\n\n${renderFields([...routes, ['secret', secret]])}\n\nCtrl-C ends it and removes ${registered.length === 1 ? 'the endpoint' : 'the endpoints'}.`
})

/** One attempt; with several targets also where it went, and what the receiver answered when it failed. */
export const renderForwarded = renderer(
  (message: AttemptMessage, to: URL | undefined, columns?: number): string => {
    const { outcome, response_body } = message.attempt
    const where = to === undefined ? '' : `\n    ${chalk.dim(`→ ${to.href}`)}`
    const answer = outcome === 'succeeded' ? '' : renderBody(response_body ?? '')
    return `${renderAttempt(message, columns)}${where}${answer}`
  },
)

/** That the service has gone, or is back. */
export const renderConnection = renderer(
  (happening: { type: 'disconnected' } | { type: 'reconnected'; made: number }): string => {
    if (happening.type === 'disconnected')
      return 'The service has ended. Waiting for it to come back; Ctrl-C ends this, too.'
    if (happening.made === 0) return 'The service is back.'
    return `The service is back and had forgotten ${count(happening.made, 'endpoint')}: registered again, with the same secret.`
  },
)

function eventsOf(types: readonly string[]): string {
  return types.length === eventTypes.length ? 'all events' : types.join(' ')
}
