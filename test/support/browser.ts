import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

/** Where systems put a Chromium; CI installs Debian's. The headless shell is the same engine without windows, for less CPU. */
const chromiumPath = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
].find((candidate) => existsSync(candidate))

/**
 * Features that Chromium must not load. Each new window, which every simulated phone is, would load two invisible pages
 * and a spare process. Chromium uses only the last list, so this one repeats Playwright's (in its
 * `chromiumSwitches.ts`). Without it, Chromium requests addresses beyond loopback.
 */
const unwanted = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

/** Whether tests in a browser can run; those that cannot are skipped, and their name says why. */
export const hasBrowser = chromiumPath !== undefined
export const inBrowser = hasBrowser ? 'in Chromium' : 'in Chromium (skipped: there is none on this machine)'

let browser: Promise<Browser> | undefined

/**
 * Starts the browser of this process, in which each phone has a context of its own. The files that this process runs share
 * it, and it ends with the process. One browser for all processes needs a server that passes each message on, which takes
 * more CPU than three browsers.
 */
async function launch(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({
    executablePath: chromiumPath ?? '',
    args: [`--disable-features=${unwanted.join(',')}`],
  })
}

/** A phone of its own. When the test ends, its page must have logged no error and asked for nothing elsewhere. */
export async function openPhone(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= launch()
  const viewport = { width: 360, height: 740 }
  const context = await (await browser).newContext({ viewport, locale: 'en-US', ...options })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (message) => {
    // A refusal is an answer, which Chromium logs all the same; so are breaks of the line. It accepts the policy of openers
    // from HTTPS and localhost only, and a service behind a proxy cannot know whether the browser uses HTTPS.
    const isExpected =
      /status of (401|402|403|409|422)|net::ERR_|Cross-Origin-Opener-Policy header has been ignored/.test(
        message.text(),
      )
    if (message.type() === 'error' && !isExpected) errors.push(message.text())
  })
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin && !request.url().startsWith('data:'))
      errors.push(`asked for ${request.url()}`)
  })
  onTestFinished(async () => {
    await context.close()
    expect(errors).toEqual([])
  })
  await page.goto(url)
  return page
}
