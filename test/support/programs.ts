import { spawnSync } from 'node:child_process'

/** Returns true when a program is installed. `npm test` needs only Node.js, npm and git, and skips tests of other programs. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined
}
