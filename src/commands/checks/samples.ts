import { readFile } from 'node:fs/promises'
import { Args } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { readSample, readSamples, type Sample } from '../../cli/push/samples.ts'
import { renderSamples } from '../../cli/render/check.ts'
import type { OrderedPush } from '../../model/check.ts'

export default class ChecksSamples extends BaseCommand {
  static override description =
    'List the built-in sample checks, or print one as JSON.\nA sample with several pushes is printed as a JSON array.'
  static override examples = [
    '<%= config.bin %> checks samples',
    '<%= config.bin %> checks samples two-top > check.json',
  ]
  static override args = {
    name: Args.string({ ignoreStdin: true, description: 'Name of a sample to print.' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(ChecksSamples)
    if (args.name !== undefined) {
      const [first = '', ...others] = await textsOf(await readSample(args.name, 'NAME'))
      return this.writeJson(others.length === 0 ? first : `[${[first, ...others].join(',')}]\n`)
    }
    const samples = await Promise.all((await readSamples()).map(summaryOf))
    this.print({ data: samples }, (columns) => renderSamples(samples, columns))
    this.say('Next: tabwire push --sample two-top')
  }
}

/** Returns the pushes of a sample, without the relative path of their schema. */
function textsOf({ files }: Sample): Promise<string[]> {
  return Promise.all(
    files.map(async (file) => {
      const { $schema: _schema, ...push } = JSON.parse(await readFile(file, 'utf8')) as Record<
        string,
        unknown
      >
      return `${JSON.stringify(push, null, 2)}\n`
    }),
  )
}

/** Describes a sample by the state that its last push leaves. */
async function summaryOf(sample: Sample) {
  const texts = await textsOf(sample)
  const { items, totals } = JSON.parse(texts.at(-1) ?? '') as OrderedPush
  return {
    name: sample.name,
    purpose: sample.purpose,
    pushes: texts.length,
    items: items.length,
    total_cents: totals.total_cents,
  }
}
