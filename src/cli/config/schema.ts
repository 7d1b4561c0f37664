import { z } from 'zod'
import { eventTypes } from '../../model/event.ts'
import { closestWord } from '../../model/text/advice.ts'
import { PROFILE_NAME, settingName } from './settings.ts'

/** The parts of a flag's definition that a settings file needs. */
export interface FlagShape {
  type: 'boolean' | 'option'
  description?: string | undefined
  multiple?: boolean | undefined
  options?: readonly string[] | undefined
  min?: number | undefined
  max?: number | undefined
  default?: unknown
  defaultHelp?: unknown
}

/** New names of settings that were renamed. */
const renamed: Readonly<Record<string, string>> = { env_file: 'dotenv' }

/** Schema of an object without other keys; its error names the key that was probably meant. */
function exactly<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys, known) : undefined),
  })
}

function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  const found = keys.map((key) => {
    const now = renamed[key]
    if (now !== undefined && known.includes(now)) return `${JSON.stringify(key)} (now ${now})`
    const meant = closestWord(key, known)
    return `${JSON.stringify(key)}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
  })
  const noun = keys.length === 1 ? 'an unknown key' : 'unknown keys'
  return `has ${noun}: ${found.join(', ')}. Known keys are ${known.join(', ')}.`
}

const forward = exactly({
  to: z.string().min(1).describe('URL to forward deliveries to, such as http://localhost:3000/webhooks.'),
  events: z.array(z.enum(eventTypes)).min(1).optional().describe('Event types to forward (default: all).'),
  headers: z.record(z.string(), z.string()).optional().describe('Headers to add or replace.'),
})

/** Settings of `listen`. Each target gets its own endpoint, so that failures and retries are its own. */
export const listenSchema = exactly({
  forward: z.array(forward).min(1).describe('Targets of `tabwire listen`.'),
})

function isServiceUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return `${username}${password}${search}${hash}` === ''
}

const httpUrl = z
  .string()
  .refine(isServiceUrl, 'must be an http: or https: URL without user info, query and fragment')

const profile = exactly({
  url: httpUrl.describe('URL of the service, such as https://api.staging.example.com.'),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable')
    .optional()
    .describe('Environment variable that holds the API key.'),
  service_name: z.string().min(1).optional().describe('Name in the signature header, X-<name>-Signature.'),
  cacert: z
    .string()
    .min(1)
    .optional()
    .describe("PEM file of the authority of the service's certificate, relative to this file."),
  contract_profile: z
    .string()
    .min(1)
    .optional()
    .describe('File with the choices of this deployment, for contract check; relative to this file.'),
})

/** Settings of `--profile`, by the names of profiles. */
export const profilesSchema = z.record(z.string().regex(PROFILE_NAME.form, PROFILE_NAME.rule), profile)

/**
 * Schema of `tabwire.config.json`: every flag of `start` under its name in snake_case, and the settings of `listen`.
 */
export function configSchema(flags: Readonly<Record<string, FlagShape>>) {
  const settings = Object.entries(flags).map(([name, flag]) => [
    settingName(name),
    settingOf(flag).optional(),
  ])
  return exactly({
    $schema: z.string().optional().describe('The JSON schema of this file.'),
    ...(Object.fromEntries(settings) as Record<string, z.ZodOptional<z.ZodType>>),
    profiles: profilesSchema.optional().describe('Deployments that --profile names.'),
    listen: listenSchema.optional().describe('Settings of `tabwire listen`.'),
  })
}

function settingOf(flag: FlagShape): z.ZodType {
  const { type, options, multiple, description = '' } = flag
  if (type === 'boolean') return z.boolean().describe(description)
  const one = isInteger(flag) ? bounded(flag) : options === undefined ? z.string().min(1) : z.enum(options)
  return (multiple ? z.array(one) : one).describe(description)
}

/** Only integer flags have a bound, or a number as default. */
function isInteger({ min, max, default: preset }: FlagShape): boolean {
  return min !== undefined || max !== undefined || typeof preset === 'number'
}

function bounded({ min, max }: FlagShape): z.ZodType {
  const above = min === undefined ? z.int() : z.int().min(min)
  return max === undefined ? above : above.max(max)
}
