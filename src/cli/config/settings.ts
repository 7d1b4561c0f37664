import { CommandError } from '../errors.ts'
import { isTrusted } from '../trust/installation.ts'
import { CONFIG_FILE, type ConfigFile, readConfigFile, wrongConfig } from './file.ts'
import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { readServiceName } from '../../model/simulator/settings.ts'

/**
 * Settings by which whoever wrote the file could learn the key, reach the service, read deliveries or have files written.
 * They count when the user named the file or has trusted its folder.
 */
const guarded = new Set([
  'allowed_host',
  'api_key',
  'cacert',
  'data_dir',
  'env_file',
  'host',
  'insecure',
  'seed',
])

/** Whether a setting counts in a trusted file alone. What is switched off does no harm. */
export function isGuarded(key: string, value: unknown): boolean {
  return guarded.has(key) && value !== false
}

/**
 * Refuses a settings file that was found, and neither named nor trusted. `also` names what is guarded beside its keys.
 * @throws CommandError that names all guarded settings of the file, and the command by which they count.
 */
export async function requireTrusted(file: ConfigFile, also: readonly string[] = []): Promise<void> {
  if (file.named || (await isTrusted(file))) return
  const found = Object.keys(file.content).filter((key) => isGuarded(key, file.content[key]))
  const names = new Intl.ListFormat('en').format([...found, ...also])
  throw new CommandError(
    'untrusted_config',
    `${file.path} sets ${names}, and you have not trusted this folder. Its author could learn your key or have files written. Read it, then run: tabwire config trust (or name the file: --config ${CONFIG_FILE})`,
  )
}

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

/**
 * The service's name, when that is all that a command wants of the settings file; `start` judges the rest of it.
 * @throws CommandError (usage) for what cannot be part of a header's name.
 */
export async function serviceNameIn(config: string | undefined): Promise<string | undefined> {
  const file = await readConfigFile(config)
  const text = file?.content.service_name
  if (file === undefined || text === undefined) return undefined
  const { value, issue } = readServiceName(text)
  if (issue === undefined) return value
  throw wrongConfig(`${file.path}: service_name ${issue}.`)
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
