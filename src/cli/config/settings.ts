import { DEFAULT_DATA_DIRECTORY } from '../../data-directory.ts'
import { CommandError } from '../errors.ts'
import { isTrusted } from '../trust/installation.ts'
import { CONFIG_FILE, type ConfigFile, readConfigFile, wrongConfig } from './file.ts'
import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { readServiceName } from '../../model/simulator/settings.ts'

/**
 * Settings by which the author of the file could learn the key, reach the service, read deliveries or have files
 * written. They count when the user named the file or trusts its folder.
 */
const guarded = new Set([
  'allow_http_host',
  'allowed_host',
  'api_key',
  'cacert',
  'data_dir',
  'dotenv',
  'host',
  'insecure',
  'public_url',
  'seed',
  'store',
])

/** `--data-dir` becomes `data_dir`: JSON is in snake_case. */
export function settingName(flagName: string): string {
  return flagName.replaceAll('-', '_')
}

/** Form of a profile's name, and the rule in words. */
export const PROFILE_NAME = { form: /^[\w-]+$/, rule: 'must be letters, digits, hyphens and underscores' }

/** Returns true when a setting needs trust. A switch that is off does no harm. */
export function isGuarded(key: string, value: unknown): boolean {
  return guarded.has(key) && value !== false
}

/**
 * Refuses a settings file that is neither named nor trusted. `also` names guarded settings beside its keys.
 * @throws CommandError that names all guarded settings of the file and the command that trusts them.
 */
export async function requireTrusted(file: ConfigFile, also: readonly string[] = []): Promise<void> {
  if (file.named || (await isTrusted(file))) return
  const found = Object.keys(file.content).filter((key) => isGuarded(key, file.content[key]))
  const names = new Intl.ListFormat('en').format([...found, ...also])
  throw new CommandError(
    'untrusted_config',
    `${file.path} sets ${names}, but you have not trusted this folder. The author of the file could read your key or overwrite files. Check the file, then run: tabwire config trust (or pass --config ${CONFIG_FILE})`,
  )
}

/**
 * Resolves a path of a settings file relative to that file. The path must stay in its folder, also when links are
 * followed. Returns it relative to the working directory.
 * @throws CommandError (usage) for a path outside of the folder.
 */
export async function relativeToFile(file: ConfigFile, key: string, path: string): Promise<string> {
  const folder = resolve(dirname(file.path))
  const place = resolve(folder, path)
  const [realFolder, realPlace] = await Promise.all([realOf(folder), realOf(place)])
  if (!isInside(folder, place) || !isInside(realFolder, realPlace) || hasControl(path))
    throw wrongConfig(
      `${file.path}: ${key} must be inside the folder of the file, got ${JSON.stringify(path)}. Use a path inside it${key.includes('.') ? '' : `, or pass --${key.replaceAll('_', '-')}`}.`,
    )
  return relative('', place) || '.'
}

/** Reads only the data directory from the settings file, else returns the default; `start` validates the rest. */
export async function dataDirectoryOf(config: string | undefined): Promise<string> {
  const file = await readConfigFile(config)
  if (file !== undefined && directoryNamed(file) !== undefined) await requireTrusted(file)
  return dataDirectoryIn(file)
}

/** Returns the data directory that a settings file names, trusted or not, or the default. */
export async function dataDirectoryIn(file: ConfigFile | undefined): Promise<string> {
  const directory = file && directoryNamed(file)
  if (file === undefined || directory === undefined) return DEFAULT_DATA_DIRECTORY
  return relativeToFile(file, 'data_dir', directory)
}

function directoryNamed({ content: { data_dir } }: ConfigFile): string | undefined {
  return typeof data_dir === 'string' && data_dir !== '' ? data_dir : undefined
}

/**
 * Reads only the service name from the settings file; `start` validates the rest.
 * @throws CommandError (usage) for a name that cannot be part of a header's name.
 */
export async function serviceNameIn(config: string | undefined): Promise<string | undefined> {
  const file = await readConfigFile(config)
  const text = file?.content.service_name
  if (file === undefined || text === undefined) return undefined
  const { value, issue } = readServiceName(text)
  if (issue === undefined) return value
  throw wrongConfig(`${file.path}: service_name ${issue}.`)
}

/** Resolves links as far as the path exists. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    return path === dirname(path) ? path : resolve(await realOf(dirname(path)), relative(dirname(path), path))
  }
}

/** Returns true for the folder itself and what is below it; both paths are absolute. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function hasControl(path: string): boolean {
  return /\p{Cc}/u.test(path)
}
