import { profileSchema, type Profile } from '../../conformance/contract/profile.ts'
import { apiKeyPattern } from '../../model/api-key.ts'
import { usageError } from '../errors.ts'
import { readInput } from '../files/input.ts'

/** A profile, with its keys read from the environment. */
interface LoadedProfile {
  profile: Omit<Profile, 'keys'>
  keys: { read?: string | undefined; push?: string | undefined; write?: string | undefined }
}

/** Reads a profile of a deployment. @throws CommandError (usage) when it is not one. */
export async function readProfile(file: string): Promise<LoadedProfile> {
  const text = (await readInput(file)).toString()
  const { keys = {}, ...profile } = parse(file, text)
  const valueOf = (key: string | { env: string } | undefined) => {
    if (key === undefined) return undefined
    const value = typeof key === 'string' ? key : process.env[key.env]
    if (value !== undefined && apiKeyPattern.test(value)) return value
    if (typeof key === 'string' || (value !== undefined && value !== ''))
      throw usageError(`${file} has a key that is none: 1 to 512 visible ASCII characters and no spaces.`)
    throw usageError(`${file} takes a key from the environment variable ${key.env}, which is not set.`)
  }
  return { profile, keys: { read: valueOf(keys.read), push: valueOf(keys.push), write: valueOf(keys.write) } }
}

function parse(file: string, text: string): Profile {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw usageError(`${file} is not JSON: ${(error as Error).message}.`)
  }
  const parsed = profileSchema.safeParse(json)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the profile'}: ${message}`,
  )
  throw usageError(`${file} is not a profile (fixtures/contract-profile.schema.json): ${issues.join('; ')}.`)
}
