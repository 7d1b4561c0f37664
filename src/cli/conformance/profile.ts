import { profileSchema, type Profile } from '../../conformance/contract/profile.ts'
import { apiKeyPattern } from '../../model/api-key.ts'
import { usageError } from '../errors.ts'
import { readInput, withoutByteOrderMark } from '../files/input.ts'

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
      throw usageError(`--profile ${file}: a key must be 1 to 512 visible ASCII characters without spaces.`)
    throw usageError(`--profile ${file}: the environment variable ${key.env} is not set.`)
  }
  return { profile, keys: { read: valueOf(keys.read), push: valueOf(keys.push), write: valueOf(keys.write) } }
}

function parse(file: string, text: string): Profile {
  let json: unknown
  try {
    json = JSON.parse(withoutByteOrderMark(text))
  } catch (error) {
    throw usageError(`--profile ${file} is not valid JSON: ${(error as Error).message}.`)
  }
  const parsed = profileSchema.safeParse(json)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the profile'}: ${message}`,
  )
  throw usageError(`--profile ${file} is not a valid profile: ${issues.join('; ')}.`)
}
