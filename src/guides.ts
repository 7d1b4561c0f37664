import { readdir, readFile } from 'node:fs/promises'
import type { Guide } from './model/text/guide.ts'
import { packageFile } from './package-file.ts'

const folder = packageFile('src/guides/')

/** Reads the guides of the package, sorted by name. */
export async function readGuides(): Promise<Guide[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md')).sort()
  return Promise.all(files.map((file) => readGuide(file.slice(0, -'.md'.length))))
}

async function readGuide(name: string): Promise<Guide> {
  const text = await readFile(new URL(`${name}.md`, folder), 'utf8')
  const [, title = name] = /^# (.+)$/m.exec(text) ?? []
  return { name, title: title.replaceAll('`', ''), text }
}
