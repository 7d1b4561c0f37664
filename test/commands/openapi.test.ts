import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { fixtures, tabwire } from '../support/cli.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../support/terminal.ts'

describe.concurrent('tabwire openapi', () => {
  test('prints the document offline, with --json the same', async () => {
    const published = await readFile(`${fixtures}openapi.json`, 'utf8')
    for (const more of [[], ['--json']])
      expect(await tabwire(['openapi', ...more])).toMatchObject({ code: 0, stdout: published, stderr: '' })
  })

  test.skipIf(!hasTerminals)(`is indented ${onTerminal}`, async () => {
    const printing = await tabwireOnTerminal(['openapi', '--no-simulator'])
    await printing.shows(/^\{\s*\n {2}"openapi": "3\.1\.1",/)
    expect(await printing.left()).toMatchObject({ code: 0 })
  })

  test('prints it as the real service would, where that is and under its name', async () => {
    const args = ['--no-simulator', '--url', 'https://api.example.org/v1/', '--service-name', 'Acme']
    const { code, stdout } = await tabwire(['openapi', ...args])
    expect(code).toBe(0)
    const { servers } = JSON.parse(stdout) as { servers: unknown }
    expect(servers).toMatchObject([{ url: 'https://api.example.org' }])
    expect(stdout).toContain('"X-Acme-Signature"')
    expect(stdout).not.toContain('"/_sim/')
  })

  test('refuses an invalid URL with exit code 2', async () => {
    const { code, stdout, stderr } = await tabwire(['openapi', '--url', 'api.example.org'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(
      '--url must be an http: or https: URL, got "api.example.org". Did you mean https://api.example.org?',
    )
  })
})
