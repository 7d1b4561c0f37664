import { createAuthority } from '../certificates/authority.ts'
import { BaseCommand } from '../cli/base-command.ts'
import { exitCodes } from '../cli/errors.ts'
import { type DemoStep, playDemo, type DemoReceiver, startReceiver } from '../cli/demo.ts'
import { currencyOf } from '../cli/guests.ts'
import { renderNextSteps } from '../cli/render/messages.ts'
import { renderDemoStep } from '../cli/render/steps.ts'
import { type Client, createClient } from '../client.ts'
import { startSimulator } from '../simulator.ts'

export default class Demo extends BaseCommand {
  static override description =
    'Show a complete run in a few seconds.\nStarts a service and an HTTPS receiver in one process, then runs a meal from the first order to the last payment. Shows guests, a refused push and all eight event types. Leaves no files behind.'
  static override examples = ['<%= config.bin %> demo', '<%= config.bin %> demo --json']

  async run(): Promise<void> {
    await this.parse(Demo)
    const authority = await createAuthority()
    const simulator = await startSimulator({ port: 0, cacert: [authority.certificatePem] })
    try {
      const receiver = await startReceiver(await authority.issue(['localhost', '127.0.0.1']))
      this.say(`Started a service in memory at ${simulator.baseUrl}\nand a receiver at ${receiver.url}.`)
      try {
        await this.play(createClient(simulator), receiver)
      } finally {
        await receiver.close()
      }
    } finally {
      await simulator.close()
    }
    this.sayRendered((columns) => `\n${renderNextSteps(columns)}`)
  }

  private async play(client: Client, receiver: DemoReceiver): Promise<void> {
    let currency: string | undefined
    for await (const step of playDemo(client, receiver)) {
      if (step.type === 'pushed') currency ??= await currencyOf(client, step.check.location_id)
      this.show(step, currency)
    }
  }

  private show(step: DemoStep, currency: string | undefined): void {
    this.printLine(step, (columns) => renderDemoStep(step, currency, columns))
    const wrong = (step.type === 'delivered' && !step.verified) || (step.type === 'compared' && !step.equal)
    if (wrong) process.exitCode = exitCodes.failed
  }
}
