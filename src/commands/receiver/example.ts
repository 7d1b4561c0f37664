import { Args } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { fromEnvironment, jsonFlag, knownServiceNameFlag, placeFlags, profileFlag } from '../../cli/flags.ts'
import {
  readReceiverExample,
  receiverExamples,
  receiverLanguages,
  type ReceiverLanguage,
} from '../../cli/conformance/receiver.ts'

export default class ReceiverExample extends BaseCommand {
  static override description =
    'Print an example receiver.\nIt verifies signatures correctly and is short enough to copy. It stores no events, so it does not ignore duplicates: it passes every case of `receiver check` that needs no --state-url.'
  static override examples = [
    '<%= config.bin %> receiver example python',
    '<%= config.bin %> receiver example go > receiver.go',
    '<%= config.bin %> receiver example node --service-name Acme   # reads X-Acme-Signature',
  ]
  static override args = {
    language: Args.string({
      description: 'Programming language.',
      options: receiverLanguages,
      required: true,
    }),
  }
  static override baseFlags = { ...jsonFlag, ...placeFlags, ...profileFlag }
  static override flags = fromEnvironment({ 'service-name': knownServiceNameFlag() })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ReceiverExample)
    const language = args.language as ReceiverLanguage
    const source = await readReceiverExample(language, await this.serviceName(flags))
    if (this.wantsJson) this.print({ language, file: receiverExamples[language], source }, () => source)
    else this.write(source)
  }
}
