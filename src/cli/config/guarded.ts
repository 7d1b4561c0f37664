import { CommandError } from '../errors.ts'
import { isTrusted } from '../trust/trusted-folders.ts'
import { CONFIG_FILE, type ConfigFile } from './file.ts'

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
