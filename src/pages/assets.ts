import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { AssetPaths } from './render.ts'
import { packageFile } from '../package-file.ts'

/** A file of a page: its bytes never change under its name, which has their hash. */
export interface Asset {
  type: string
  content: string
}

export interface Assets {
  guest: AssetPaths
  inspector: AssetPaths
  reference: AssetPaths
  /** By the last segment of their path. */
  files: ReadonlyMap<string, Asset>
}

/** Where `npm run build` puts them. */
const directory = packageFile('dist/pages/assets/')

/** Reads the pages' scripts and styles. What was not built is left out: then a page is there to be read, and plain. */
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
    reference: await pathsOf('reference'),
    files,
  }
}
