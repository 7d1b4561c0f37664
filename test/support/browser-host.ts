import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserServer } from 'playwright-core'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL at which the browser is started, and which returns the address to connect to. */
    browserHost: string
  }
}

/** Where systems put a Chromium; CI installs Debian's. */
export const chromiumPath = [
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

async function launch(): Promise<BrowserServer> {
  const { chromium } = await import('playwright-core')
  return chromium.launchServer({
    host: '127.0.0.1',
    executablePath: chromiumPath ?? '',
    args: [`--disable-features=${unwanted.join(',')}`],
  })
}

/** Starts one Chromium for all test files, once the first one asks for it, and closes it after the last. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let browser: Promise<BrowserServer> | undefined
  const host = createServer((_request, response) => {
    browser ??= launch()
    browser.then(
      (server) => response.end(server.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  provide('browserHost', `http://127.0.0.1:${(host.address() as AddressInfo).port}/`)
  return async () => {
    host.close()
    host.closeAllConnections()
    await (await browser?.catch(() => undefined))?.close()
  }
}
