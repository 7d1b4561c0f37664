import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

/** Whether calls of the system can be watched, and made to fail, on this machine: some containers forbid it. */
export const canTrace =
  process.platform === 'linux' && spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0

/** The built store, which a separate process can load. */
const store = pathToFileURL('dist/store/file-store.js').href

/** Writes so many more checks, prints the number of each that was acknowledged, closes, and says so. */
const writer = `
import { openFileStore } from '${store}'
const [directory, count] = process.argv.slice(1)
const store = await openFileStore({ directory, compactAtBytes: 1200 })
const { data } = await store.list('checks', { limit: 1000 })
for (let number = data.length + 1; number <= data.length + Number(count); number += 1) {
  const id = 'chk_' + String(number).padStart(26, '0')
  await store.transact({}, () => ({ writes: [{ collection: 'checks', put: { id, external_id: id, location_id: 'l' } }] }))
  console.log(number)
}
await store.close()
console.log('closed')`

export interface Written {
  /** The number of the last check that was acknowledged; 0 for none. */
  acknowledged: number
  closed: boolean
}

/** Runs the writer below strace. One thread alone works on files, so that its calls can be counted. */
export async function writeTraced(
  directory: string,
  count: number,
  strace: readonly string[],
): Promise<Written> {
  const program = ['--input-type=module', '-e', writer, directory, String(count)]
  const child = spawn('strace', ['-f', '-qq', ...strace, process.execPath, ...program], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  })
  const [said] = await Promise.all([text(child.stdout), once(child, 'close')])
  const lines = said.trim().split('\n')
  return {
    acknowledged: Math.max(0, ...lines.map(Number).filter((number) => number > 0)),
    closed: lines.includes('closed'),
  }
}
