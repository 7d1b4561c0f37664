import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isHere } from './conformance/receiver/check.ts'
import { isSoak } from './soak/seeded.ts'
import { emptyDirectory, fixtures, spawnProcess } from './support/cli.ts'
import { readManifest, root } from './support/packed.ts'

const folder = join(fixtures, 'testcontainers')
const bin = join(root, 'bin/run.js')

/** Resolves the name of the host, as the network of a container does. */
const resolver = `
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
const { lookup } = dns
dns.lookup = (name, options) => lookup(name === 'host.testcontainers.internal' ? '127.0.0.1' : name, options)
syncBuiltinESMExports()
`

/** Stands in for the package: a container is a process of this program, with the environment of the image. */
const stub = `
import { spawn } from 'node:child_process'
const must = (condition, what) => { if (!condition) throw new Error(what) }
let exposed = []
export const TestContainers = { exposeHostPorts: async (...ports) => { exposed = ports } }
export const Wait = { forHttp: (path, port) => ({ path, port }) }
export class GenericContainer {
  constructor(image) { must(image === process.env.IMAGE, image) }
  withEnvironment(env) { this.env = env; return this }
  withCommand(command) { this.command = command; return this }
  withExposedPorts(port) { must(port === 4100, port); return this }
  withWaitStrategy(strategy) { this.strategy = strategy; return this }
  async start() {
    must(exposed.length === 1, 'no port of the host')
    const args = ['--import', ${JSON.stringify(`data:text/javascript,`)} + encodeURIComponent(process.env.RESOLVER), process.env.BIN]
    const child = spawn(process.execPath, [...args, ...this.command, '--port', '0', '--json'], { env: { ...process.env, ...this.env }, stdio: ['ignore', 'pipe', 'inherit'] })
    const line = await new Promise((resolve) => child.stdout.once('data', resolve))
    const { url } = JSON.parse(line)
    must((await fetch(url + this.strategy.path)).ok && this.strategy.port === 4100, 'not ready')
    return {
      getHost: () => '127.0.0.1',
      getMappedPort: () => Number(new URL(url).port),
      stop: () => new Promise((resolve) => { child.once('exit', resolve); child.kill() }),
    }
  }
}
`

describe('the recipes for Testcontainers', () => {
  test('use the image of this version, a wait strategy and the same calls', async () => {
    const { version } = await readManifest(root)
    const files = (await readdir(folder)).toSorted()
    expect(files).toEqual(['TabwireTest.java', 'TabwireTests.cs', 'tabwire_test.go', 'tabwire_test.mjs'])
    for (const file of files) {
      const text = await readFile(join(folder, file), 'utf8')
      const parts = [
        `ghcr.io/tabwire/tabwire:${version}`,
        '/_sim/health',
        'webhook-endpoints',
        '--allow-http-host',
      ]
      expect([file, parts.filter((part) => !text.includes(part))]).toEqual([file, []])
    }
  })

  test('in JavaScript runs: a push arrives as a signed webhook', async () => {
    const cwd = await emptyDirectory()
    const packages = join(cwd, 'node_modules/testcontainers')
    await mkdir(packages, { recursive: true })
    await writeFile(join(packages, 'package.json'), '{"type":"module","exports":"./index.js"}')
    await writeFile(join(packages, 'index.js'), stub)
    await copyFile(join(folder, 'tabwire_test.mjs'), join(cwd, 'tabwire_test.mjs'))
    const { version } = await readManifest(root)
    const env = { BIN: bin, RESOLVER: resolver, IMAGE: `ghcr.io/tabwire/tabwire:${version}` }
    const { ended } = await spawnProcess(process.execPath, ['--test', 'tabwire_test.mjs'], { cwd, env })
    const { code, stdout, stderr } = await ended
    expect([code, stdout + stderr]).toEqual([0, expect.stringMatching(/pass 1\n/)])
  })

  test.skipIf(!isSoak || !isHere(['javac', '-version']))('in Java can be parsed by javac', async () => {
    const cwd = await emptyDirectory()
    const args = ['-proc:none', '-Xmaxerrs', '1000', '-d', cwd, join(folder, 'TabwireTest.java')]
    const { stderr } = await (await spawnProcess('javac', args, { cwd })).ended
    const errors = stderr.match(/(?<=: error: ).*/g) ?? []
    // The packages of JUnit, Jackson and Testcontainers are not here.
    const ofPackages = /^(package [\w.]+ does not exist|cannot find symbol|static import only)/
    expect(errors.filter((error) => !ofPackages.test(error))).toEqual([])
  })

  test.skipIf(!isHere(['go', 'version']))('in Go is formatted like gofmt', async () => {
    const { ended } = await spawnProcess('gofmt', ['-l', '-e', join(folder, 'tabwire_test.go')], {})
    expect(await ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })
})
