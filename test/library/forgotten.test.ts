import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { emptyDirectory, spawnProcess } from '../support/cli.ts'

test('a process with open simulators ends by itself, unless ref keeps it running', async () => {
  const script = fileURLToPath(new URL('forgotten.mjs', import.meta.url))
  const { ended } = await spawnProcess(process.execPath, [script], { cwd: await emptyDirectory() })
  const { code, stdout, stderr } = await ended
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'false\ntrue\n', stderr: '' })
})
