import { readFile, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyDirectory, fixtures, spawnProcess, startService } from './support/cli.ts'
import { root } from './support/packed.ts'

/** A port that nothing listens at. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

/** Whether something listens at a port. */
function listens(port: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket
      .on('error', () => resolve(false))
      .on('connect', () => {
        socket.destroy()
        resolve(true)
      })
  })
}

test('the first minutes of the README ask for nothing but what stands there', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const [chapter = ''] =
    /^## Your first webhook in two minutes\n[^]*?(?=^\*\*A receiver on plain HTTP\*\*)/m.exec(readme) ?? []
  const port = await freePort()
  const words = [...chapter.matchAll(/^npx tabwire (.*?)(?: +#.*)?$/gm)].map(([, line = '']) =>
    line.replace(':8443/', `:${port}/`).split(' '),
  )
  expect(words.map(([first]) => first)).toEqual(['certs', 'endpoints', 'push', 'deliveries', 'tail'])
  const cwd = await emptyDirectory()
  await symlink(fixtures, join(cwd, 'fixtures'), 'junction')
  const [, program = ''] = /^```js\n(\/\/ receiver\.mjs\n[^]*?)^```$/m.exec(chapter) ?? []
  await writeFile(join(cwd, 'receiver.mjs'), program.replace('8443', port))

  const service = await startService([], { cwd })
  const run = async (command: string[] = []) => {
    const { code, stderr, stdout } = await service.run(command)
    expect([command, code, stderr]).toEqual([
      command,
      0,
      expect.not.stringMatching(/Warning|Error|refused/) as string,
    ])
    return stdout
  }
  await run(words[0])
  await run(words[1])
  const receiver = await spawnProcess(process.execPath, ['receiver.mjs'], { cwd })
  // It says nothing as it starts, and what is pushed before that is tried again a minute later.
  await expect.poll(() => listens(port), { timeout: 30_000 }).toBe(true)
  await run(words[2])
  await receiver.until('stdout', /check\.created/)
  await expect.poll(() => run(words[3]), { timeout: 30_000 }).toMatch(/check\.created.*delivered/)
  receiver.child.kill()
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
})
