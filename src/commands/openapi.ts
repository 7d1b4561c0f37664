import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { fromEnvironment, jsonFlag, knownServiceNameFlag, placeFlags, httpUrlFlag } from '../cli/flags.ts'
import { openApiText } from '../http/openapi/document.ts'

export default class OpenApi extends BaseCommand {
  static override description =
    'Print the OpenAPI 3.1 document of the service.\nIncludes the events as webhooks, and needs no running service. A running service has the document at /openapi.json and /docs. A terminal shows it indented, a file gets one line.'
  static override examples = [
    '<%= config.bin %> openapi',
    '<%= config.bin %> openapi --no-simulator --url https://api.example.com > openapi.json',
  ]
  static override baseFlags = { ...jsonFlag, ...placeFlags }
  static override flags = fromEnvironment({
    simulator: Flags.boolean({
      description: "Include the simulator's own paths under /_sim and /t.",
      default: true,
      allowNo: true,
    }),
    url: httpUrlFlag({
      description: 'URL of the service, with or without /v1.',
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
