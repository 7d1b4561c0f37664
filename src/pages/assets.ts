import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ReferencePaths } from './reference.ts'
import type { AssetPaths } from './render.ts'

/** A file of the page: its bytes never change under its name, which has their hash. */
export interface Asset {
  type: string
  content: string
}

export interface Assets {
  paths: AssetPaths
  reference: ReferencePaths
  /** By the last segment of their path. */
  files: ReadonlyMap<string, Asset>
}

/** Where `npm run build` puts them; the path is the same from the sources and from what is built of them. */
const directory = new URL('../../dist/pages/assets/', import.meta.url)

/** Reads the page's script and style. What was not built is left out: then the page is there to be read, and plain. */
export async function loadAssets(): Promise<Assets> {
  const files = new Map<string, Asset>()
  const load = async (name: string, ending: string, type: string) => {
    const content = await readFile(new URL(`${name}.${ending}`, directory), 'utf8').catch(() => '')
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
    const hashed = `${name}-${hash}.${ending}`
    if (content !== '') files.set(hashed, { type, content })
    return `/assets/${hashed}`
  }
  const script = await load('guest', 'js', 'text/javascript; charset=utf-8')
  const style = await load('guest', 'css', 'text/css; charset=utf-8')
  const reference = {
    explorer: await load('openapi-explorer', 'js', 'text/javascript; charset=utf-8'),
    style: await load('reference', 'css', 'text/css; charset=utf-8'),
  }
  return { paths: { script, style }, reference, files }
}
