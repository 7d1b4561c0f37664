import { access, constants } from 'node:fs/promises'
import { bareHost, isLoopbackName, withoutVersion } from '../../model/url.ts'
import { didYouMeanSentence } from '../../model/text/advice.ts'
import { usageError } from '../errors.ts'
import { CONFIG_FILE, checkConfig, readConfigFile, type ConfigFile } from './file.ts'
import { PROFILE_NAME, relativeToFile, requireTrusted } from './settings.ts'

/** Settings of `profiles.<name>` in `tabwire.config.json`: a deployment that commands can use instead of the local service. */
interface ConnectionProfile {
  url: string
  api_key_env?: string | undefined
  service_name?: string | undefined
  cacert?: string | undefined
  contract_profile?: string | undefined
}

/** Returns true for the name of a profile; `contract check --profile` also takes a path. */
export function isProfileName(word: string): boolean {
  return PROFILE_NAME.form.test(word)
}

/**
 * Returns the environment variables that stand for a profile's settings. A profile replaces those of the environment as a
 * whole, so that a key is never sent to another service: a variable is `undefined` where the profile says nothing.
 * @throws CommandError (usage) for a missing file, an unknown profile, or a key variable that is not set.
 */
export async function profileVariables(
  name: string,
  { config, hasKey }: { config: string | undefined; hasKey: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string | undefined>> {
  const file = await readConfigFile(config)
  if (file === undefined)
    throw usageError(
      `--profile ${name} needs ${CONFIG_FILE}, which is not in this directory. Pass its path: --config FILE.`,
    )
  const profile = await profileIn(file, name)
  await requireTrust(file, name, profile)
  const cacert =
    profile.cacert === undefined
      ? undefined
      : await relativeToFile(file, `profiles.${name}.cacert`, profile.cacert)
  if (cacert !== undefined) await requireReadable(file, name, cacert)
  return {
    TABWIRE_URL: profile.url,
    TABWIRE_BASE_URL: `${withoutVersion(profile.url)}/v1`,
    TABWIRE_API_KEY: hasKey ? undefined : apiKeyOf(name, profile, environment),
    TABWIRE_API_KEY_FILE: undefined,
    TABWIRE_CACERT: cacert,
    TABWIRE_SERVICE_NAME: profile.service_name ?? (file.content.service_name as string | undefined),
  }
}

/** Returns the path of a profile's description for `contract check`, if it names one. */
export async function contractProfileOf(
  name: string,
  config: string | undefined,
): Promise<string | undefined> {
  const file = await readConfigFile(config)
  const path = file === undefined ? undefined : (await profileIn(file, name)).contract_profile
  return file === undefined || path === undefined
    ? undefined
    : relativeToFile(file, `profiles.${name}.contract_profile`, path)
}

async function profileIn(file: ConfigFile, name: string): Promise<ConnectionProfile> {
  // Loaded late: it brings zod, and most commands use no profile.
  const { profilesSchema } = await import('./schema.ts')
  const profiles = checkConfig(file, profilesSchema, file.content.profiles ?? {}, 'profiles')
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile !== undefined) return profile
  const names = Object.keys(profiles)
  const known = names.length === 0 ? 'It has no profiles.' : `Profiles: ${names.join(', ')}.`
  throw usageError(
    `--profile: ${file.path} has no profile ${JSON.stringify(name)}.${didYouMeanSentence(name, names)} ${known}`,
  )
}

/** A file that came with a clone could name any URL and any variable, and so read keys. */
async function requireTrust(file: ConfigFile, name: string, { url }: ConnectionProfile): Promise<void> {
  if (!isLoopbackName(bareHost(new URL(url)))) await requireTrusted(file, [`profiles.${name}`])
}

/** @throws CommandError (usage) that names the profile, which the error of a later read would not. */
async function requireReadable({ path }: ConfigFile, name: string, cacert: string): Promise<void> {
  await access(cacert, constants.R_OK).catch(() => {
    throw usageError(
      `--profile ${name}: cannot read its cacert, ${cacert}. Correct profiles.${name}.cacert in ${path}.`,
    )
  })
}

function apiKeyOf(
  name: string,
  { api_key_env: variable }: ConnectionProfile,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (variable === undefined) return undefined
  const key = environment[variable] ?? ''
  if (key !== '') return key
  throw usageError(
    `--profile ${name} takes its API key from the environment variable ${variable}, which is not set. Set it, or pass --api-key-file.`,
  )
}
