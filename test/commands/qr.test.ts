import { stripVTControlCharacters } from 'node:util'
import jsqr from 'jsqr'
import { beforeAll, describe, expect, test } from 'vitest'
import type { TableAddress } from '../../src/client.ts'
import { serve, type RunningService } from '../support/cli.ts'

let service: RunningService
let address: string
beforeAll(async () => {
  service = await serve()
  address = ((await (await service.call('GET', '/_sim/tables/12')).json()) as TableAddress).url
  return async () => {
    await service.stop()
  }
})

const utf8 = { LANG: 'en_GB.UTF-8', LC_ALL: '', LC_CTYPE: '' }
const qr = (args: readonly string[], env: Record<string, string> = {}) =>
  service.run(['qr', ...args], { env: { ...utf8, ...env } })

/** Reads a photo of these rows of blocks; `ink` is the colour of the drawn modules, 0 is black. */
function scanned(lines: readonly string[], ink: 0 | 255): string | undefined {
  const scale = 4
  const width = (lines[0]?.length ?? 0) * scale
  const height = lines.length * 2 * scale
  const pixels = new Uint8ClampedArray(width * height * 4)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const row = Math.floor(y / scale)
      const character = lines[Math.floor(row / 2)]?.[Math.floor(x / scale)] ?? ''
      const isInked = (row % 2 === 0 ? '█▀' : '█▄').includes(character)
      const grey = isInked ? ink : 255 - ink
      pixels.set([grey, grey, grey, 255], (y * width + x) * 4)
    }
  const read = (jsqr as unknown as typeof jsqr.default)(pixels, width, height, {
    inversionAttempts: 'dontInvert',
  })
  return read?.data
}

describe("a table's QR code in the terminal", () => {
  test('is black on white in any terminal, and a scanner reads the address of the page', async () => {
    const { code, stdout, stderr } = await qr(['12'], { FORCE_COLOR: '1' })
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.pop()).toBe(address)
    for (const line of lines) expect(line).toMatch(/^\u001b\[30m\u001b\[107m[█▀▄ ]+\u001b\[49m\u001b\[39m$/)
    const blocks = lines.map(stripVTControlCharacters)
    expect(scanned(blocks, 0)).toBe(address)
    // The quiet zone is four modules: two lines above, four columns beside.
    expect(blocks.slice(0, 2).join('').trim()).toBe('')
    for (const line of blocks) expect(line).toMatch(/^ {4}.* {4}$/)
    expect(stderr).toContain('tabwire start --host 0.0.0.0')
  })

  test('without colour draws the light modules, and a scanner reads the same address', async () => {
    const { stdout } = await qr(['12'], { NO_COLOR: '1' })
    const lines = stdout.trimEnd().split('\n').slice(0, -1)
    expect(stdout).not.toContain('\u001b')
    expect(scanned(lines, 255)).toBe(address)
  })

  test.each<readonly [string, Record<string, string>, RegExp]>([
    ['is narrower than the code', { COLUMNS: '30' }, /it needs \d+ columns, and the terminal has 30\./],
    // Windows has no such variable.
    ...(process.platform === 'win32'
      ? []
      : [['is not set to UTF-8', { LANG: 'C' }, /the terminal is not set to UTF-8\./] as const]),
  ])('is replaced by the address when the terminal %s', async (_what, env, reason) => {
    const { code, stdout, stderr } = await qr(['12'], env)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${address}\n` })
    expect(stderr).toMatch(reason)
  })
})

describe('tabwire qr', () => {
  test.each([[['12', '--url']], [['--url', '12']], [['12', '--address']]])(
    '%j prints only the address',
    async (args) => {
      expect(await qr(args)).toMatchObject({ code: 0, stdout: `${address}\n`, stderr: '' })
    },
  )

  test('takes the service from --url, too', async () => {
    expect((await qr(['12', '--url', service.url, '--url'])).stdout).toBe(`${address}\n`)
  })

  test('--json prints the response of the API', async () => {
    const { stdout } = await qr(['12', '--json'])
    expect(JSON.parse(stdout)).toEqual(await (await service.call('GET', '/_sim/tables/12')).json())
  })

  test('--svg prints a picture', async () => {
    const { code, stdout } = await qr(['12', '--svg'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^]*<\/svg>\n$/)
  })

  test('--location accepts the location of the key by name or id, and no other', async () => {
    expect(await qr(['12', '--url', '--location', 'the copper pan, riverside'])).toMatchObject({ code: 0 })
    const other = await qr(['12', '--location', 'The Copper Pan, Borough'])
    expect(other).toMatchObject({ code: 1, stdout: '' })
    expect(other.stderr).toContain(
      '--location must be the location of the API key, got "The Copper Pan, Borough',
    )
  })
})

test.each(['.', '..'])('qr refuses the table %s, which cannot be part of a URL', async (table) => {
  const { code, stderr } = await qr([table])
  expect(code).toBe(2)
  expect(stderr).toContain('TABLE must not be . or ..')
})
