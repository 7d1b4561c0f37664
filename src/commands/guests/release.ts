import { Args } from '@oclif/core'
import { checkAfter } from '../../cli/guests.ts'
import { renderClaim } from '../../cli/render/guests.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class GuestsRelease extends ServiceCommand {
  static override description =
    'Release the items of an unpaid claim.\nReleasing a claim again changes nothing.'
  static override examples = ['<%= config.bin %> guests release clm_01K9YQ3S2M6W5VJ8T4R7N0ZBCD']
  static override args = {
    claim: Args.string({ ignoreStdin: true, description: 'Id of the claim.', required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GuestsRelease)
    const client = await this.connect(flags)
    const claim = await client.guests.release(args.claim)
    if (this.wantsJson) return this.print(claim, () => '')
    const { items, location_id } = await checkAfter(client, claim.external_check_id)
    const currency = (await this.currencies(client))[location_id]
    this.print(claim, () => renderClaim(claim, items, currency))
  }
}
