import { readServiceName } from '../../model/simulator/settings.ts'
import { readConfigFile, wrongConfig } from './file.ts'

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
