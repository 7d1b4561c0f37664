import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import { atEnd } from './at-end.ts'
import { chromiumPath } from './browser-host.ts'

/** Whether tests in a browser can run; those that cannot are skipped, and their name says why. */
export const hasBrowser = chromiumPath !== undefined
export const inBrowser = hasBrowser ? 'in Chromium' : 'in Chromium (skipped: there is none on this machine)'

let browser: Promise<Browser> | undefined

atEnd(async () => {
  await (await browser)?.close()
  browser = undefined
})

/** Connects to the browser of this run, in which each phone has a context of its own. */
async function connect(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  const response = await fetch(inject('browserHost'))
  const text = await response.text()
  if (!response.ok) throw new Error(`Chromium did not start: ${text}`)
  return chromium.connect(text)
}

/** A phone of its own. When the test ends, its page must have logged no error and asked for nothing elsewhere. */
export async function openPhone(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= connect()
  const viewport = { width: 360, height: 740 }
  const context = await (await browser).newContext({ viewport, locale: 'en-US', ...options })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (message) => {
    // A refusal is an answer, which Chromium logs all the same; so are breaks of the line.
    const isAnswer = /status of (401|402|409|422)|net::ERR_/.test(message.text())
    if (message.type() === 'error' && !isAnswer) errors.push(message.text())
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
