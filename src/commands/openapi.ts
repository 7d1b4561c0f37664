import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { fromEnvironment, jsonFlag, knownServiceNameFlag, placeFlags, httpUrlFlag } from '../cli/flags.ts'
import {
  collectionFiles,
  collectionFormats,
  type CollectionFormat,
} from '../http/openapi/collection-formats.ts'
import { openApiDocument, openApiText } from '../http/openapi/document.ts'
import { usageError } from '../cli/errors.ts'
import { withoutVersion } from '../model/url.ts'
import { writeOutputFiles } from '../cli/files/output.ts'

export default class OpenApi extends BaseCommand {
  static override description =
    'Print the OpenAPI 3.1 document of the service.\nIncludes the events as webhooks, and needs no running service. A running service has the document at /openapi.json and /docs. A terminal shows it indented, a file gets one line.'
  static override examples = [
    '<%= config.bin %> openapi',
    '<%= config.bin %> openapi --no-simulator --url https://api.example.com > openapi.json',
    '<%= config.bin %> openapi --as postman --out tabwire.postman_collection.json',
    '<%= config.bin %> openapi --as bruno --out bruno   # a folder',
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
    as: Flags.string({
      description: 'Write example requests in this format instead; they run in order.',
      options: collectionFormats,
      dependsOn: ['out'],
    }),
    out: Flags.string({
      description: 'File of the requests, or the folder for bruno.',
      dependsOn: ['as'],
    }),
    force: Flags.boolean({ description: 'Replace files that differ.', dependsOn: ['as'] }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(OpenApi)
    const { simulator, url, as, out, force, ...known } = flags
    const serviceName = await this.serviceName(known)
    // The paths of the document begin with the version.
    const options = { simulator, url: withoutVersion(url), serviceName }
    if (as === undefined || out === undefined) return this.writeJson(await openApiText(options))
    if (out === '' || out === '-') throw usageError(`--out must be a file or a folder, got "${out}".`)
    const content = collectionFiles(as as CollectionFormat, await openApiDocument(options))
    const files = await writeOutputFiles(out, content, force)
    this.print({ as, files }, () => `Wrote ${out}. Set the variable apiKey before you send a request.`)
  }
}
