import { describe, expect, it, onTestFinished } from 'vitest'
import { bundleOf } from '../../../src/model/simulator/bundle.ts'
import { startReplay } from '../../../src/simulator.ts'
import { isSoak } from '../../soak/seeded.ts'
import { hasBrowser, inBrowser } from '../../support/browser.ts'
import { openSimulator } from '../../support/simulator.ts'
import { openInspector } from './open-inspector.ts'

describe.skipIf(!hasBrowser)(`the inspector of a replay, ${inBrowser}`, () => {
  it('has a banner, the recorded lists and the frozen clock', async () => {
    const { client, push } = await openSimulator()
    await push('table-12')
    await push('table-12', { totals: { subtotal_cents: 1850, tax_cents: 0, total_cents: 7 } })
    const bundle = bundleOf(await client.bundle())
    const replay = await startReplay(bundle, { port: 0, host: '127.0.0.1' })
    onTestFinished(() => replay.close())
    const page = await openInspector(replay)
    const at = bundle.recorded_at.slice(0, 19).replace('T', ' ')
    await page.getByText(`Replay of ${at} UTC. It sends no deliveries and injects no faults.`).waitFor()
    await page.getByText('frozen').first().waitFor()
    await page.getByRole('link', { name: 'Pushes', exact: true }).click()
    const rows = page.getByText('table-12', { exact: true })
    await rows.first().waitFor()
    expect(await rows.count()).toBe(2)
  })

  it('shows the prices of a push as money, also in older recordings, whose requests have no location', async () => {
    const { client, push } = await openSimulator()
    await push('table-12')
    const bundle = bundleOf(await client.bundle())
    const requests = bundle.log.requests.map(({ location_id: _none, ...request }) => request)
    const replay = await startReplay(
      { ...bundle, log: { ...bundle.log, requests } },
      { port: 0, host: '127.0.0.1' },
    )
    onTestFinished(() => replay.close())
    const page = await openInspector(replay)
    await page.getByRole('link', { name: 'Pushes', exact: true }).click()
    await page.getByText('table-12', { exact: true }).click()
    await page.getByText('1 × A burger, $18.50').waitFor()
  })

  it.runIf(isSoak)('has no banner where the service is not a replay', async () => {
    const page = await openInspector(await openSimulator())
    await page.getByRole('link', { name: 'Checks', exact: true }).waitFor()
    expect(await page.getByText('Replay of').count()).toBe(0)
  })
})
