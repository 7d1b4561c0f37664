import { join } from 'node:path'
import { emulate, emulateKept } from './emulate.ts'
import { install, nodeIn, versionOf } from './install.ts'
import { jsonServer } from './json-server.ts'
import { AMOUNTS, measure, type Measured } from './measure.ts'
import { mockoon } from './mockoon.ts'
import type { Peer } from './peer.ts'
import { prism } from './prism.ts'
import { tabwire } from './tabwire.ts'

/** A row of the comparison: the measured values, or the reason without any. */
export type Compared = { peer: string; version: string } & (Measured | { unable: string })

/** Measured last: how far from 1 it comes out is how far the machine was from being quiet. */
const again: Peer = { ...tabwire, name: 'tabwire, once more' }

const peers: readonly Peer[] = [jsonServer, mockoon, prism, emulate, emulateKept, again]

/** Runs the same work with other tools, which it downloads, and reports each result at once. Tabwire comes first. */
export async function comparePeers(scratch: string, tell: (row: Compared) => void): Promise<Compared[]> {
  const rows: Compared[] = []
  for (const peer of [tabwire, ...peers]) {
    const row = await compare(peer, scratch)
    rows.push(row)
    tell(row)
  }
  return rows
}

async function compare(peer: Peer, scratch: string): Promise<Compared> {
  const installed = join(scratch, 'peers', peer.package?.replace(/\W/g, '-') ?? 'none')
  const node24 = join(scratch, 'peers', 'node-24')
  let version = ''
  try {
    if (peer.package !== undefined) {
      await install(installed, peer.package, false)
      version = versionOf(installed, peer.package)
    }
    if (peer.needsNode24 === true) await install(node24, 'node@24', true)
    const node = peer.needsNode24 === true ? nodeIn(node24) : process.execPath
    const directory = (name: string) => join(scratch, peer.name.replace(/\W/g, '-'), name)
    return { peer: peer.name, version, ...(await measure(peer, { node, installed, directory })) }
  } catch (error) {
    return { peer: peer.name, version, unable: error instanceof Error ? error.message : String(error) }
  }
}

/** Formats the rows: each value, and in brackets its ratio to Tabwire's. */
export function comparisonTable(rows: readonly Compared[]): string {
  const [ours] = rows
  const titles = [
    'peer',
    ...AMOUNTS.map((amount) => `writes/s, ${amount} stored`),
    ...[AMOUNTS[0], AMOUNTS[2]].map((amount) => `start, ${amount} stored`),
    'kept after kill -9',
    'webhooks',
  ]
  const cells = rows.map((row) => [`${row.peer} ${row.version}`.trim(), ...cellsOf(row, ours)])
  const all = [titles, ...cells]
  const widths = titles.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}

function cellsOf(row: Compared, ours: Compared | undefined): string[] {
  if ('unable' in row) return [`not measured: ${row.unable}`]
  const base = ours === undefined || 'unable' in ours ? row : ours
  const writes = row.perSecond.map((value, index) => {
    if ((row.failed[index] ?? 0) > 0) return `void: ${row.failed[index]} failed`
    const shown = `${value.toFixed(0)} (${(value / (base.perSecond[index] ?? Number.NaN)).toFixed(2)}×)`
    return row.kills === 0 ? `cannot; answers ${shown}` : shown
  })
  const starts = [0, AMOUNTS.length - 1].map((index) => {
    const value = row.start[index] ?? Number.NaN
    return `${value.toFixed(0)} ms (${(value / (base.start[index] ?? Number.NaN)).toFixed(2)}×)`
  })
  const kept = row.kills === 0 ? 'cannot' : `${row.survived} of ${row.kills}`
  return [...writes, ...starts, kept, row.webhooks === 'none' ? 'cannot' : row.webhooks]
}
