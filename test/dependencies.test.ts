import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readManifest, root } from './support/packed.ts'

describe('the dependencies', () => {
  test('are explained in src/README.md, with their number', async () => {
    const layout = await readFile(join(root, 'src/README.md'), 'utf8')
    const table = /^## Dependencies\n[^]*?(?=^The peer packages)/m.exec(layout)?.[0] ?? ''
    const names = Object.keys((await readManifest(root)).dependencies)
    expect(names.filter((name) => !table.includes(`\n| \`${name}\``))).toEqual([])
    expect(table).toContain(`\nThese ${names.length} packages are installed`)
  })

  test('are at most 60 packages and 20 MB on disk, including indirect ones and the package itself', async () => {
    const production = Object.entries(await readLock()).filter(
      ([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer,
    )
    const { dependencies } = await readManifest(root)
    expect(production.length).toBeGreaterThan(Object.keys(dependencies).length)
    expect(production.length).toBeLessThan(60)
    const sizes = await Promise.all(production.map(([path]) => sizeOf(path)))
    const total = sizes.reduce((sum, size) => sum + size, 0)
    expect(total).toBeGreaterThan(5e6)
    expect(total).toBeLessThan(20 * MIB - LARGEST_PACKAGE)
  })

  test('are locked for every system, and not only for the one that wrote the lock file', async () => {
    const locked = await readLock()
    const wanted = Object.values(locked).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    )
    expect(wanted.length).toBeGreaterThan(20)
    const paths = Object.keys(locked)
    expect(wanted.filter((name) => !paths.some((path) => path.endsWith(`node_modules/${name}`)))).toEqual([])
  })
})

const MIB = 1024 * 1024

/** Bytes of Tabwire itself on disk, in blocks of 4 KiB; `test/package.test.ts` holds its unpacked size. */
const LARGEST_PACKAGE = 5.2 * MIB

interface Locked {
  dev?: boolean
  devOptional?: boolean
  peer?: boolean
  optionalDependencies?: Record<string, string>
}

async function readLock(): Promise<Record<string, Locked>> {
  const text = await readFile(join(root, 'package-lock.json'), 'utf8')
  return (JSON.parse(text) as { packages: Record<string, Locked> }).packages
}

/** Bytes on disk of a package's own files; 0 when it is for another system and not installed. */
async function sizeOf(folder: string): Promise<number> {
  const path = join(root, folder)
  if (!existsSync(path)) return 0
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const own = entries.filter(
    (entry) => entry.isFile() && !entry.parentPath.slice(path.length).includes('node_modules'),
  )
  const stats = await Promise.all(own.map((entry) => stat(join(entry.parentPath, entry.name))))
  return stats.reduce((sum, { blocks, size }) => sum + (blocks > 0 ? blocks * 512 : size), 0)
}
