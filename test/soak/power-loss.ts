import { basename, dirname } from 'node:path'
import type { Call } from './call-log.ts'

/** The content of a directory: names and bytes. */
export type Content = ReadonlyMap<string, Buffer>

/** Files that a power cut may leave, and the writes acknowledged before it. */
export interface Remains {
  content: Content
  acknowledged: number
  /** Description of the last call before the cut, and of the lost data. */
  when: string
}

interface Inode {
  now: Buffer
  synced: Buffer
  /** Its writes end when they are on the disk. */
  durable: boolean
}

/**
 * Replays a process's calls on a directory. After each, yields possible states after a power cut: synced data is kept.
 * Any part of the unsynced bytes and names may be lost.
 */
export function* powerCuts(directory: string, before: Content, calls: readonly Call[]): Generator<Remains> {
  const disk = diskOf(directory, before)
  let acknowledged = 0
  for (const [index, call] of calls.entries()) {
    const said = call.name === 'write' && call.args.startsWith('1<') ? Number(call.strings[0]) : Number.NaN
    if (said > 0) acknowledged = said
    else disk.play(call)
    for (const [lost, content] of disk.remains())
      yield { content, acknowledged, when: `${lost}, after call ${index} (${call.name})` }
  }
}

function diskOf(directory: string, before: Content) {
  const fresh = (bytes: Buffer = Buffer.alloc(0)): Inode => ({ now: bytes, synced: bytes, durable: false })
  const names = new Map([...before].map(([name, bytes]) => [name, fresh(bytes)]))
  let syncedNames = new Map(names)
  const isHere = (path: string) => dirname(path) === directory
  const inodeOf = (path: string) => (isHere(path) ? names.get(basename(path)) : undefined)
  const change = (inode: Inode, bytes: Buffer) => {
    inode.now = bytes
    if (inode.durable) inode.synced = bytes
  }
  const write = ({ file, strings, result, args }: Call) => {
    const inode = inodeOf(file)
    if (inode === undefined) return
    const position = Number(/, (\d+)$/.exec(args.replace(/"[^"]*"/, ''))?.[1] ?? Number.NaN)
    const at = args.split(', ').length > 3 ? position : inode.now.length
    const bytes = Buffer.alloc(Math.max(inode.now.length, at + result))
    inode.now.copy(bytes)
    strings[0]?.copy(bytes, at, 0, result)
    change(inode, bytes)
  }
  const open = (path: string, args: string) => {
    if (!isHere(path)) return
    if (args.includes('O_CREAT') && !names.has(basename(path))) names.set(basename(path), fresh())
    const inode = inodeOf(path)
    if (inode === undefined) return
    if (args.includes('O_TRUNC')) change(inode, Buffer.alloc(0))
    inode.durable = args.includes('O_DSYNC')
  }
  const name = (path: string, inode: Inode | undefined) => {
    if (isHere(path) && inode !== undefined) names.set(basename(path), inode)
  }
  const sync = (path: string) => {
    if (path === directory) syncedNames = new Map(names)
    const inode = inodeOf(path)
    if (inode !== undefined) inode.synced = inode.now
  }
  return {
    play(call: Call) {
      const [from = '', to = ''] = call.strings.map(String)
      if (/^p?write/.test(call.name)) write(call)
      else if (call.name === 'openat') open(from, call.args)
      else if (call.name.endsWith('sync')) sync(call.file)
      else if (call.name === 'ftruncate') {
        const inode = inodeOf(call.file)
        if (inode !== undefined) inode.now = inode.now.subarray(0, Number(/, (\d+)$/.exec(call.args)?.[1]))
      } else if (/^(rename|link)/.test(call.name)) name(to, inodeOf(from))
      if (/^(rename|unlink)/.test(call.name) && isHere(from)) names.delete(basename(from))
    },
    remains(): [string, Content][] {
      const contentOf = (of: Map<string, Inode>, bytes: (inode: Inode) => Buffer): Content =>
        new Map([...of].map(([path, inode]) => [path, bytes(inode)]))
      const torn = ({ now, synced }: Inode) =>
        now.length > synced.length ? now.subarray(0, (now.length + synced.length) >> 1) : now
      return [
        ['all that was not synced is lost', contentOf(syncedNames, ({ synced }) => synced)],
        ['bytes that were not synced are lost', contentOf(names, ({ synced }) => synced)],
        ['names that were not synced are lost', contentOf(syncedNames, ({ now }) => now)],
        ['half of the bytes that were not synced is lost', contentOf(names, torn)],
      ]
    },
  }
}
