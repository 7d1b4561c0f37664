import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { fromEnvironment, jsonFlag, knownServiceNameFlag, placeFlags, httpUrlFlag } from '../cli/flags.ts'
import { openApiText } from '../http/openapi/document.ts'

export default class OpenApi extends BaseCommand {
  static override description =
    'Print the OpenAPI 3.1 document of the service.\nWith its events as webhooks; a running service serves it at /openapi.json, and for people at /docs. It needs no service. A terminal gets it indented, a file on one line.'
  static override examples = [
    '<%= config.bin %> openapi',
    '<%= config.bin %> openapi --no-simulator --url https://api.example.com > openapi.json',
  ]
  static override baseFlags = { ...jsonFlag, ...placeFlags }
  static override flags = fromEnvironment({
    simulator: Flags.boolean({
      description: "With what is the simulator's own, under /_sim and /t, and no real service has.",
      default: true,
      allowNo: true,
    }),
    url: httpUrlFlag({
      description: 'Where clients find the service; a final /v1 may be there.',
      default: 'http://127.0.0.1:4100',
    }),
    'service-name': knownServiceNameFlag(),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(OpenApi)
    const { simulator, url: _url, ...known } = flags
    const serviceName = await this.serviceName(known)
    const text = await openApiText({ simulator, url: withoutVersion(flags.url), serviceName })
    this.writeJson(text)
  }
}

/** The paths of the document begin with the version. */
function withoutVersion(url: string): string {
  return url.replace(/\/+(v1\/*)?$/, '')
}
