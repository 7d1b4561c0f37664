import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createAuthority } from '../../../src/certificates/authority.ts'
import { receiverCases } from '../../../src/conformance/receiver/check.ts'
import { emptyDirectory } from '../../support/cli.ts'
import { checked, failed, secret } from './check.ts'

const guide = await readFile(new URL('../../../src/guides/webhooks.md', import.meta.url), 'utf8')

/** The receiver of the webhooks guide, on any free port, printing where it listens. */
function receiverOfGuide(): string {
  const [, code = ''] = /^```js\n(\/\/ https-receiver\.mjs\n[^]*?)^```$/m.exec(guide) ?? []
  const listen = ".listen(8443, 'localhost')"
  expect(code).toContain(listen)
  return code.replace(
    listen,
    `.listen(0, 'localhost', function () {
      console.log('listening on https://localhost:' + this.address().port + '/webhooks/')
    })`,
  )
}

test("the webhooks guide's receiver passes every case, advice included", async () => {
  const cwd = await emptyDirectory()
  const authority = await createAuthority()
  const { cert, key } = await authority.issue(['localhost'])
  const files = {
    'localhost.pem': cert,
    'localhost-key.pem': key,
    'webhook.secret': `${secret}\n`,
    'https-receiver.mjs': receiverOfGuide(),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
  const report = await checked(
    [process.execPath, 'https-receiver.mjs'],
    { ca: [authority.certificatePem] },
    { cwd, says: { stream: 'stdout', pattern: /listening on https:\S+/ } },
  )
  expect(failed(report)).toEqual([])
  expect(report.totals).toMatchObject({ failed: 0, advised: 0, not_checked: 0 })
})

test('the guide states the number of cases', () => {
  const counts = [...guide.matchAll(/(\d+) cases (?:of|in)\b/g)].map(([, count]) => Number(count))
  expect(counts).toEqual([receiverCases.length])
})
