import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress, gzip } from 'node:zlib'
import { packageFile } from '../package-file.ts'
import type { AssetPaths } from './renderer.js'

/** A file that a page loads; its name holds a hash of its content, so that browsers may cache it for a year. */
export interface Asset {
  type: string
  /** By content encoding. */
  content: { br: Buffer; gzip: Buffer; identity: Buffer }
}

interface Assets {
  guest: AssetPaths
  inspector: AssetPaths
  /** URL path of the stylesheet of the documentation. */
  docs: string
  /** By the last segment of the URL path. */
  files: ReadonlyMap<string, Asset>
}

/** Output of `npm run build`. */
const directory = packageFile('dist/pages/assets/')

/**
 * Reads the pages' scripts and styles. The package has them in Brotli alone, because gzip in addition would be 8 % of the
 * package. Files that were not built are left out; the guest page is readable without them.
 */
export async function loadAssets(): Promise<Assets> {
  const files = new Map<string, Asset>()
  const load = async (name: string, ending: string, type: string) => {
    const br = await readFile(new URL(`${name}.${ending}.br`, directory)).catch(() => null)
    if (br === null) return `/assets/${name}.${ending}`
    const identity = await promisify(brotliDecompress)(br)
    const hash = createHash('sha256').update(identity).digest('base64url').slice(0, 12)
    const hashed = `${name}-${hash}.${ending}`
    files.set(hashed, { type, content: { br, gzip: await promisify(gzip)(identity), identity } })
    return `/assets/${hashed}`
  }
  const pathsOf = async (page: string) => ({
    script: await load(page, 'js', 'text/javascript; charset=utf-8'),
    style: await load(page, 'css', 'text/css; charset=utf-8'),
  })
  return {
    guest: await pathsOf('guest'),
    inspector: await pathsOf('inspector'),
    docs: await load('docs', 'css', 'text/css; charset=utf-8'),
    files,
  }
}
