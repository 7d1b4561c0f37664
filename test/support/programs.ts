import { spawnSync } from 'node:child_process'

/** Returns true when a program is installed. `npm test` needs only Node.js, npm and git, and skips tests of other programs. */
export function isInstalled(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args.length === 0 ? ['--version'] : args).status === 0
}
