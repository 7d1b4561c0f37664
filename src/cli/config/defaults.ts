import type { Interfaces } from '@oclif/core'
import { fromEnvironment } from '../flags.ts'
import { relativeToFile, isGuarded, requireTrusted } from './settings.ts'
import { checkConfig, readConfigFile, wrongConfig, type ConfigFile } from './file.ts'
import { configSchema, keyOf, type FlagShape } from './schema.ts'

interface Given {
  flags: Record<string, unknown>
  options: unknown
}
type Flag = FlagShape & Pick<Interfaces.OptionFlag<unknown>, 'parse'>
type Flags = Readonly<Record<string, FlagShape>>

/** Flags that a file cannot set: the file itself, the key of the database, files with secrets, and the output format. */
const notInFile = new Set(['config', 'json', 'api-key-file', 'store-key', 'store-key-file'])

/** Settings that name files, relative to the settings file. */
const paths = new Set(['data-dir', 'cacert', 'dotenv'])

/**
 * Gives flags their environment variables, and settings of `tabwire.config.json` as defaults. oclif asks for a
 * default when neither the command line nor the environment gives a value, which is the precedence of contract
 * section 12. `--no-…` switches off a switch that the file sets.
 */
export function fromConfigFile<T extends Record<string, { env?: string }>>(flags: T): T {
  const settable = settableFlags(fromEnvironment(flags) as unknown as Flags)
  const configurable = Object.entries(settable).map(([name, flag]) => [
    name,
    {
      ...flag,
      ...(flag.type === 'boolean' && { allowNo: true }),
      // Help shows this, and the manifest keeps it.
      defaultHelp: flag.defaultHelp ?? (async () => flag.default),
      default: async (given: Given) => {
        const file = await readConfigFile(given.flags.config as string | undefined)
        if (file === undefined) return presetOf(flag, given)
        const settings = checkConfig(file, configSchema(settable), file.content) as Record<string, unknown>
        const value = settings[keyOf(name)]
        if (value === undefined) return presetOf(flag, given)
        if (isGuarded(keyOf(name), value)) await requireTrusted(file)
        return parsed(file, name, flag as Flag, value)
      },
    },
  ])
  return { ...flags, ...(Object.fromEntries(configurable) as object) }
}

/** Returns the flags that a settings file can set, by name. */
export function settableFlags(flags: Flags): Flags {
  return Object.fromEntries(Object.entries(flags).filter(([name]) => !notInFile.has(name)))
}

function presetOf({ default: preset }: FlagShape, given: Given): unknown {
  return typeof preset === 'function' ? (preset as (given: Given) => unknown)(given) : preset
}

/** Parses a setting as its flag parses the command line. */
async function parsed(file: ConfigFile, name: string, flag: Flag, value: unknown): Promise<unknown> {
  if (flag.type === 'boolean') return value
  if (Array.isArray(value)) return Promise.all(value.map((one) => parsed(file, name, flag, one)))
  const text = paths.has(name) ? await relativeToFile(file, keyOf(name), String(value)) : String(value)
  try {
    return await flag.parse(text, {} as never, flag as never)
  } catch (error) {
    const { message } = error as Error
    throw wrongConfig(`${file.path}: ${keyOf(name)}${message.startsWith('must ') ? ' ' : ': '}${message}`)
  }
}
