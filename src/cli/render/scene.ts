import chalk from 'chalk'
import type { Scene } from '../demo/scene.ts'
import { renderClaim, renderFeedback, renderPayment } from './guests.ts'
import { renderPush } from './push.ts'
import { wrapTo } from './width.ts'
import { renderer } from './text.ts'

/** A scene of the demo, as it is told. */
export const renderScene = renderer((scene: Scene, columns?: number): string => {
  if (scene.type === 'registered')
    return `\n${chalk.bold('Register')} ${scene.url}  ${chalk.dim(scene.endpoint_id)}`
  if (scene.type === 'pushed')
    return `\n${chalk.bold('Push')} ${chalk.dim(`(${scene.what})`)}\n${renderPush(scene.check, scene.report, scene.status, columns)}`
  if (scene.type === 'refused')
    return `\n${chalk.bold('Push')} ${chalk.dim(`(${scene.what})`)}\n${refusalText(scene, columns)}`
  if (scene.type === 'guest')
    return `\n${chalk.bold('Guest')} ${chalk.dim(`(${scene.what})`)}\n${guestText(scene)}`
  if (scene.type === 'compared')
    return `\n${mark(scene.equal)} ${scene.what} are ${scene.equal ? 'equal' : 'not equal'}`
  const how = scene.over_tls ? 'over TLS' : 'in plain text'
  const judgement = scene.verified ? 'signature verified' : 'signature is wrong'
  return `  ${mark(scene.verified)} ${scene.event_type}  ${how}, ${scene.bytes} bytes, ${judgement}  ${chalk.dim(scene.event_id)}`
})

function refusalText(
  { status, code, message }: Extract<Scene, { type: 'refused' }>,
  columns: number | undefined = Infinity,
): string {
  return [chalk.red(`${status} ${code}`), ...wrapTo(columns - 2, message).map((line) => `  ${line}`)].join(
    '\n',
  )
}

function guestText({ resource, check }: Extract<Scene, { type: 'guest' }>): string {
  if ('rating' in resource) return renderFeedback(resource)
  return 'tip_cents' in resource
    ? renderPayment(resource, check)
    : renderClaim(resource, check.items, undefined)
}

function mark(good: boolean): string {
  return good ? chalk.green('✓') : chalk.red('✗')
}
