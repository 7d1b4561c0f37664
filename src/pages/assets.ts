import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { packageFile } from '../package-file.ts'
import type { AssetPaths } from './renderer.js'

/** A file that a page loads; its name holds a hash of its content, so that browsers may cache it for a year. */
export interface Asset {
  type: string
  content: string
}

export interface Assets {
  guest: AssetPaths
  inspector: AssetPaths
  /** URL path of the stylesheet of the documentation. */
  docs: string
  /** By the last segment of the URL path. */
  files: ReadonlyMap<string, Asset>
}

/** Output of `npm run build`. */
const directory = packageFile('dist/pages/assets/')

/** Reads the pages' scripts and styles. Files that were not built are left out; the guest page is readable without them. */
export async function loadAssets(): Promise<Assets> {
  const files = new Map<string, Asset>()
  const load = async (name: string, ending: string, type: string) => {
    const content = await readFile(new URL(`${name}.${ending}`, directory), 'utf8').catch(() => '')
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
    const hashed = `${name}-${hash}.${ending}`
    if (content !== '') files.set(hashed, { type, content })
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
