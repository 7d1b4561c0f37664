import { CommandError } from '../errors.ts'
import type { Finding } from './finding.ts'

/** Oldest version that is tested (package.json, engines). */
const LEAST = [20, 19] as const

/** Checks that this version of Node.js is supported. */
export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const old = major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1])
  if (!old) return { check: 'node', level: 'good', message: `Node.js ${version}.` }
  return {
    check: 'node',
    level: 'bad',
    message: `Node.js ${version} is too old. Tabwire needs ${LEAST.join('.')} or newer.`,
    advice: 'Install a newer version: https://nodejs.org/en/download',
  }
}

/** @throws CommandError when Node.js is too old, with the words of `doctor`. */
export function requireNode(): void {
  const { level, message, advice } = checkNode()
  if (level === 'bad') throw new CommandError('unsupported_node', `${message} ${advice}`)
}
