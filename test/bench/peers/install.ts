import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/**
 * Fetches packages and their dependencies into a directory of their own, from the registry that npm is configured for.
 * @throws with npm's own words when it cannot be had.
 */
export async function install(
  directory: string,
  wanted: string | readonly string[],
  scripts: boolean,
): Promise<void> {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{"private":true}')
  const quietly = ['--no-audit', '--no-fund', '--loglevel=error']
  const args = ['install', ...quietly, ...(scripts ? [] : ['--ignore-scripts']), ...[wanted].flat()]
  const npm = process.env.npm_execpath
  const [file, all] = npm === undefined ? ['npm', args] : [process.execPath, [npm, ...args]]
  const child = spawn(file, all, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
  const [said] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (child.exitCode !== 0) throw new Error(`npm could not fetch it: ${said.trim().split('\n')[0] ?? ''}`)
}

/** The version of an installed package. */
export function versionOf(directory: string, wanted: string): string {
  const name = wanted.replace(/(.)@.*$/, '$1')
  const file = join(directory, 'node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** Where the package `node` has its program. */
export function nodeIn(directory: string): string {
  return join(directory, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
}
