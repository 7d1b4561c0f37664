import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { readConfigFile, wrongConfig, type ConfigFile } from './file.ts'
import { requireTrusted } from './guarded.ts'

/**
 * A path that a settings file names is relative to that file, and stays in its folder, also when links are followed; it is
 * shown as people would type it from where they are.
 * @throws CommandError (usage) for a path that leads out of the folder.
 */
export async function besideFile(file: ConfigFile, key: string, path: string): Promise<string> {
  const folder = resolve(dirname(file.path))
  const place = resolve(folder, path)
  const [realFolder, realPlace] = await Promise.all([realOf(folder), realOf(place)])
  if (!isInside(folder, place) || !isInside(realFolder, realPlace) || hasControl(path))
    throw wrongConfig(
      `${file.path}: ${key} leads out of the folder of the file. Name a path inside it, or give the path by --${key.replaceAll('_', '-')}.`,
    )
  return relative('', place) || '.'
}

/** Where the data is, when that is all that a command wants of the settings file; `start` judges the rest of it. */
export async function dataDirectoryIn(config: string | undefined): Promise<string | undefined> {
  const file = await readConfigFile(config)
  const directory = file?.content.data_dir
  if (file === undefined || typeof directory !== 'string' || directory === '') return undefined
  await requireTrusted(file)
  return besideFile(file, 'data_dir', directory)
}

/** A path without links, as far as it exists. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    return path === dirname(path) ? path : resolve(await realOf(dirname(path)), relative(dirname(path), path))
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function hasControl(path: string): boolean {
  return /\p{Cc}/u.test(path)
}
