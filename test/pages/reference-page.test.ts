import { describe, expect, it } from 'vitest'
import { hasBrowser, inBrowser, openPhone } from '../support/browser.ts'
import { openSimulator } from '../support/simulator.ts'

describe('the API reference at /docs', () => {
  it('allows only its own script files and no other origin', async () => {
    const { call } = await openSimulator()
    const { status, headers, text } = await call('GET /docs', { key: null })
    expect(status).toBe(200)
    const policy = headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).toContain("connect-src 'self'")
    expect(text).not.toMatch(/https?:(?!\/\/www\.w3\.org\/2000\/svg)|<script>|\son\w+=/)
    for (const [, path] of text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g))
      expect((await call(`GET ${path}`, { key: null })).status).toBe(200)
  })

  it.runIf(hasBrowser)(
    `shows operations and webhooks, calls the service and fits a phone, ${inBrowser}`,
    async () => {
      const { url } = await openSimulator()
      const page = await openPhone(`${url}/docs#?route=get-/_sim/health`, {
        viewport: { width: 1280, height: 900 },
        colorScheme: 'dark',
      })
      await page.getByRole('button', { name: 'EXECUTE' }).click()
      await page.getByText('Response Status: OK (200)').waitFor()
      expect(await page.title()).toBe('API reference · Tabwire')
      const names = ['Checks', 'Webhook endpoints', 'Simulator guests']
      for (const name of names) await page.getByText(name, { exact: true }).first().waitFor()
      await page.goto(`${url}/docs#?route=post-check.fully_paid`)
      await page.getByText('X-Service-Signature').first().waitFor()
      await page.setViewportSize({ width: 360, height: 740 })
      await page.getByText('Push the current state of a check').first().waitFor({ state: 'attached' })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    },
  )
})
