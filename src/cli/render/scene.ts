import chalk from 'chalk'
import type { Scene } from '../demo/story.ts'
import { renderPush } from './push.ts'

/** A scene of the demo, as it is told. */
export function renderScene(scene: Scene): string {
  if (scene.type === 'registered')
    return `\n${chalk.bold('Register')} ${scene.url}  ${chalk.dim(scene.endpoint_id)}`
  if (scene.type === 'pushed')
    return `\n${chalk.bold('Push')} ${chalk.dim(`(${scene.what})`)}\n${renderPush(scene.check, scene.report, scene.status)}`
  if (scene.type === 'compared')
    return `\n${mark(scene.equal)} ${scene.what} are ${scene.equal ? 'equal' : 'not equal'}`
  const how = scene.over_tls ? 'over TLS' : 'in plain text'
  const judgement = scene.verified ? 'signature verified' : 'signature is wrong'
  return `  ${mark(scene.verified)} ${scene.event_type}  ${how}, ${scene.bytes} bytes, ${judgement}  ${chalk.dim(scene.event_id)}`
}

function mark(good: boolean): string {
  return good ? chalk.green('✓') : chalk.red('✗')
}
