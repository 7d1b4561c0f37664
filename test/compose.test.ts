import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { mistakeIn } from './documented/command-lines.ts'
import { isSoak } from './soak/seeded.ts'
import { emptyDirectory, fixtures, spawnProcess } from './support/cli.ts'
import { freePort } from './support/http-server.ts'
import { readManifest, root } from './support/packed.ts'

interface Service {
  image: string
  command: string | string[]
  entrypoint?: string[]
  working_dir?: string
  environment?: Record<string, string>
  ports?: string[]
  volumes: string[]
  networks?: { default: { aliases: string[] } }
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
}

type Name = 'certificate' | 'tabwire' | 'receiver' | 'endpoint'

const folder = join(fixtures, 'compose')
const bin = join(root, 'bin/run.js')

let text: string
let services: Record<Name, Service>
let volumes: object
beforeAll(async () => {
  text = await readFile(join(folder, 'compose.yaml'), 'utf8')
  ;({ services, volumes } = parse(text) as { services: Record<Name, Service>; volumes: object })
})

/** Returns the command lines of Tabwire in a service. */
function linesOf({ image, command, entrypoint }: Service): string[] {
  if (!image.includes('tabwire')) return []
  if (typeof command === 'string' && entrypoint === undefined) return [`tabwire ${command}`]
  return [command].flat().flatMap((line) => line.match(/\btabwire [a-z][^|;&]*/g) ?? [])
}

describe('the Compose project', () => {
  test('is the one that the containers guide prints', async () => {
    const guide = await readFile(join(root, 'src/guides/containers.md'), 'utf8')
    const section = guide.split('\n## Docker Compose\n')[1]?.split('\n## ')[0] ?? ''
    expect(/^```yaml\n([^]*?)^```$/m.exec(section)?.[1]).toBe(text)
  })

  test('uses the image of this version, and existing commands, flags and variables', async () => {
    const { version } = await readManifest(root)
    const manifest = await readFile(join(root, 'oclif.manifest.json'), 'utf8')
    const images = Object.values(services).map(({ image }) => image)
    const own = `\${TABWIRE_IMAGE:-ghcr.io/tabwire/tabwire:${version}}`
    expect(images).toEqual([own, own, 'node:24-alpine', own])
    const lines = Object.values(services).flatMap(linesOf)
    expect(lines.map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'tabwire certs create',
      'tabwire start',
      'tabwire endpoints create',
    ])
    expect(lines.map(mistakeIn).filter((mistake) => mistake !== undefined)).toEqual([])
    for (const { environment = {} } of Object.values(services))
      for (const name of Object.keys(environment)) expect(manifest).toContain(`"env":"${name}"`)
  })

  test('starts each service after those that it depends on, with health checks that exist', async () => {
    const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
    const started = new Set<string>()
    for (const [name, { depends_on = {}, volumes: mounts, ports = [] }] of Object.entries(services)) {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        expect([name, other, started.has(other)]).toEqual([name, other, true])
        const needed = services[other as Name]
        const isOver = linesOf(needed).length > 0 && !linesOf(needed).includes('tabwire start')
        expect(condition).toBe(isOver ? 'service_completed_successfully' : 'service_healthy')
        const ofImage = needed.image.includes('tabwire') && dockerfile.includes('\nHEALTHCHECK ')
        expect(isOver || needed.healthcheck !== undefined || ofImage).toBe(true)
      }
      const sources = mounts.map((mount) => mount.split(':')[0] ?? '')
      expect(sources.filter((source) => !source.startsWith('./') && !(source in volumes))).toEqual([])
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
      started.add(name)
    }
  })

  test.runIf(isSoak)(
    'delivers a push as a signed webhook over HTTPS, and registers nothing on a second start',
    async () => {
      const host = await machine()
      const { certificate, tabwire, receiver, endpoint } = services
      const issued = await (await host.run(certificate)).ended
      expect([issued.code, issued.stderr]).toEqual([0, ''])
      const service = await host.run(tabwire, ['--json'])
      const ready = await service.until('stdout', /"type":"ready".*\n/)
      host.ports.set('4100', new URL((JSON.parse(ready) as { url: string }).url).port)
      const application = await host.run(receiver)
      await application.until('stdout', /listening on port/)
      const [, program = '', ...check] = receiver.healthcheck?.test ?? []
      expect((await (await host.spawn(program, check)).ended).code).toBe(0)
      for (let start = 0; start < 2; start++) {
        const { code, stdout } = await (await host.run(endpoint)).ended
        expect([code, stdout.includes('https://receiver.internal:')]).toEqual([0, start === 0])
      }
      const push = await host.spawn('tabwire', ['push', '--sample', 'two-top'], endpoint.environment)
      expect(await push.ended).toMatchObject({ code: 0, stderr: '' })
      expect(await application.until('stdout', /accepted/)).toMatch(/accepted check\.created\n$/)
      const wait = [
        'deliveries',
        'wait',
        '--type',
        'check.created',
        '--count',
        '1',
        '--exactly',
        '--timeout',
        '0',
      ]
      const waited = await (await host.spawn('tabwire', wait, endpoint.environment)).ended
      expect([waited.code, waited.stdout]).toEqual([0, expect.stringContaining('delivered')])
    },
  )
})

/** Resolves the names of the services, as the network of the project does. */
const resolver = `
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
const names = ['tabwire', 'receiver.internal']
const { lookup } = dns
const { lookup: resolve } = dns.promises
dns.lookup = (name, ...rest) => lookup(names.includes(name) ? '127.0.0.1' : name, ...rest)
dns.promises.lookup = (name, options) => resolve(names.includes(name) ? '127.0.0.1' : name, options)
syncBuiltinESMExports()
`

/** Runs each service as a process: with its arguments, folders for its volumes, and free ports of this machine. */
async function machine() {
  const [tabwire, home, app, programs] = (await Promise.all(
    Array.from({ length: 4 }, () => emptyDirectory()),
  )) as [string, string, string, string]
  await copyFile(join(folder, 'receiver.mjs'), join(app, 'receiver.mjs'))
  const folders = { '/data': tabwire, '/home/node': home, '/app': app }
  const ports = new Map([
    ['8443', String(await freePort())],
    ['4100', '0'],
  ])
  await writeFile(join(programs, 'tabwire'), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`)
  await chmod(join(programs, 'tabwire'), 0o755)
  const here = (given: string) => {
    const [, preset = given] = /^\$\{\w+:-(.*)\}$/.exec(given) ?? []
    const placed = Object.entries(folders).reduce((one, [from, to]) => one.replaceAll(from, to), preset)
    return placed.replace(/\b(?:8443|4100)\b/g, (port) => ports.get(port) ?? port)
  }
  const spawn = (program: string, args: readonly string[], more: Record<string, string> = {}, cwd = home) => {
    const env = {
      PATH: [programs, process.env.PATH].join(delimiter),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(resolver)}`,
      // As in the image, but on this machine alone.
      TABWIRE_DATA_DIR: tabwire,
      TABWIRE_HOST: '127.0.0.1',
      TABWIRE_PORT: ports.get('4100') ?? '0',
      XDG_STATE_HOME: join(tabwire, '.state'),
      HOST: '127.0.0.1',
      PORT: ports.get('8443') ?? '0',
      ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, here(value)])),
    }
    return spawnProcess(program, args.map(here), { cwd, env })
  }
  return {
    ports,
    spawn,
    async run(service: Service, more: readonly string[] = []) {
      const {
        command,
        image,
        entrypoint = image.includes('tabwire') ? ['tabwire'] : [],
        working_dir,
      } = service
      const words = typeof command === 'string' ? command.split(' ') : command
      const [program = '', ...args] = [...entrypoint, ...words, ...more]
      const cwd = here(working_dir ?? '/data')
      await mkdir(cwd, { recursive: true })
      const running = await spawn(program, args, service.environment, cwd)
      onTestFinished(async () => {
        running.child.kill('SIGTERM')
        await running.ended
      })
      return running
    },
  }
}
