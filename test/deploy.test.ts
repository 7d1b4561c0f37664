import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { simRoutes, type SimParts } from '../src/http/sim/routes.ts'
import { isHere } from './conformance/receiver/check.ts'
import { emptyDirectory, fixtures, spawnProcess } from './support/cli.ts'
import { readManifest, root } from './support/packed.ts'

const read = (name: string) => readFile(join(fixtures, 'deploy', name), 'utf8')

interface Flag {
  env: string
  type: 'boolean' | 'option'
  options?: string[]
}
let flags: Record<string, Flag>
beforeAll(async () => {
  const manifest = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8')) as {
    commands: { start: { flags: Record<string, Flag> } }
  }
  flags = manifest.commands.start.flags
})

/** Expects that `start` knows each variable with our prefix. */
function expectVariables(names: readonly string[]): void {
  const ours = names.filter((name) => name.startsWith('TABWIRE_'))
  expect(ours).toEqual(expect.arrayContaining(['TABWIRE_STORE', 'TABWIRE_SANDBOX', 'TABWIRE_STORE_KEY']))
  const known = Object.values(flags).map(({ env }) => env)
  expect(ours.filter((name) => !known.includes(name))).toEqual([])
  expect(names.filter((name) => !name.startsWith('TABWIRE_'))).toEqual(['PGPASSWORD'])
}

/** Paths without a key: probes have none. */
const openPaths = simRoutes({} as SimParts)
  .filter(({ scope }) => scope === null)
  .map(({ path }) => `/_sim${path}`)

interface Compose {
  services: Record<
    string,
    {
      image: string
      environment?: Record<string, string>
      healthcheck?: { test: string[] }
      depends_on?: Record<string, { condition: string }>
      ports?: string[]
      volumes?: string[]
    }
  >
  volumes: object
}

describe('fixtures/deploy/compose.yaml', () => {
  let compose: Compose
  beforeAll(async () => {
    compose = parse(await read('compose.yaml'), { merge: true }) as Compose
  })
  const instances = () => Object.entries(compose.services).filter(([name]) => name.startsWith('tabwire-'))

  test('runs three instances of this version on one sandbox, with known variables of start', async () => {
    const { version } = await readManifest(root)
    expect(instances()).toHaveLength(3)
    for (const [, { image, environment = {} }] of instances()) {
      expect(image).toBe(`ghcr.io/tabwire/tabwire:${version}`)
      expectVariables(Object.keys(environment))
      expect(flags.log?.options).toContain(environment.TABWIRE_LOG)
    }
  })

  test('contains no secret, publishes only on loopback, and waits until each dependency is ready', () => {
    const text = JSON.stringify(compose)
    expect(text).not.toMatch(/whsec_|twk_/)
    for (const [, { environment = {} }] of instances())
      for (const name of ['PGPASSWORD', 'TABWIRE_STORE_KEY', 'TABWIRE_API_KEY'])
        expect(environment[name]).toMatch(/^\$\{\w+:\?\}$/)
    expect(compose.services.proxy?.ports).toEqual(['127.0.0.1:4100:80'])
    for (const [name, { depends_on = {} }] of Object.entries(compose.services))
      for (const [other, { condition }] of Object.entries(depends_on))
        expect([name, other, condition, compose.services[other]]).toEqual([
          name,
          other,
          'service_healthy',
          expect.objectContaining({ healthcheck: expect.anything() as object }),
        ])
  })

  test('checks the health of an instance by a path that needs no key', () => {
    for (const [, { healthcheck }] of instances()) {
      const [path = ''] = /\/_sim\/\w+/.exec(healthcheck?.test.at(-1) ?? '') ?? []
      expect([path, openPaths.includes(path)]).toEqual(['/_sim/ready', true])
    }
  })

  test('has an nginx that distributes requests to all instances and streams responses', async () => {
    const text = await read('nginx.conf')
    const upstream = [...text.matchAll(/^\s*server ([\w.-]+):(\d+) /gm)].map(([, name, port]) => [name, port])
    expect(upstream).toEqual(instances().map(([name]) => [name, '4100']))
    for (const directive of [
      'proxy_pass http://tabwire',
      'proxy_buffering off',
      'proxy_next_upstream error timeout http_503',
    ])
      expect(text).toContain(`${directive};`)
    expect(text).not.toContain('non_idempotent')
    expect(compose.services.proxy?.volumes).toEqual(['./nginx.conf:/etc/nginx/nginx.conf:ro'])
    expect(text.match(/\{/g)?.length).toBe(text.match(/\}/g)?.length)
  })

  test.skipIf(!isHere(['nginx', '-v']))('has a configuration that nginx accepts', async () => {
    const cwd = await emptyDirectory()
    // Its usual logs and port are the superuser's.
    const text = (await read('nginx.conf'))
      .replace(/tabwire-\d:/g, '127.0.0.1:')
      .replace('http {', 'http { access_log off;')
      .replace('listen 80;', `listen unix:${join(cwd, 'nginx.sock')};`)
    await writeFile(join(cwd, 'nginx.conf'), text)
    const logs = ['-g', 'pid nginx.pid; error_log stderr;']
    const args = ['-t', '-p', cwd, '-c', join(cwd, 'nginx.conf'), ...logs]
    const { ended } = await spawnProcess('nginx', args, { cwd })
    expect((await ended).code).toBe(0)
  })
})

interface Manifest {
  kind: string
  metadata: { name: string }
  spec: {
    replicas?: number
    minAvailable?: number
    selector: { matchLabels?: object; app?: string }
    ports?: { port: number; targetPort: string }[]
    template?: {
      metadata: { labels: object }
      spec: { containers: Container[]; terminationGracePeriodSeconds: number }
    }
  }
}

interface Container {
  image: string
  args: string[]
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string } } }[]
  ports: { name: string; containerPort: number }[]
  volumeMounts: { name: string; mountPath: string }[]
  livenessProbe: Probe
  readinessProbe: Probe
  startupProbe: Probe
}

interface Probe {
  httpGet: { path: string; port: string }
}

describe('fixtures/deploy/kubernetes.yaml', () => {
  let manifests: Manifest[]
  let container: Container
  beforeAll(async () => {
    const documents = parseAllDocuments(await read('kubernetes.yaml'))
    manifests = documents.map((document) => document.toJS() as Manifest)
    for (const one of manifests[0]?.spec.template?.spec.containers ?? []) container = one
  })

  test('has three replicas of this version, a service and a disruption budget for them', async () => {
    expect(manifests.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget'])
    const [deployment, service, budget] = manifests
    const labels = { app: 'tabwire' }
    expect(deployment?.spec).toMatchObject({ replicas: 3, selector: { matchLabels: labels } })
    expect(deployment?.spec.template?.metadata.labels).toEqual(labels)
    expect(service?.spec.selector).toEqual(labels)
    expect(service?.spec.ports?.map(({ targetPort }) => targetPort)).toEqual(
      container.ports.map(({ name }) => name),
    )
    expect(budget?.spec).toEqual({ minAvailable: 2, selector: { matchLabels: labels } })
    const { version } = await readManifest(root)
    expect(container.image).toBe(`ghcr.io/tabwire/tabwire:${version}`)
  })

  test('passes known flags and variables of start, and secrets by reference', () => {
    const [command, ...args] = container.args
    expect(command).toBe('start')
    for (const word of args.filter((arg) => arg.startsWith('--')))
      expect(Object.keys(flags)).toContain(word.slice(2))
    expectVariables(container.env.map(({ name }) => name))
    for (const name of ['PGPASSWORD', 'TABWIRE_STORE_KEY', 'TABWIRE_API_KEY'])
      expect(container.env.find((variable) => variable.name === name)).toEqual({
        name,
        valueFrom: { secretKeyRef: { name: 'tabwire', key: expect.any(String) as string } },
      })
  })

  test('probes paths that need no key, and does not restart instances while the database is away', () => {
    const { livenessProbe, readinessProbe, startupProbe } = container
    expect(livenessProbe.httpGet).toEqual({ path: '/_sim/health', port: 'http' })
    expect(startupProbe.httpGet).toEqual({ path: '/_sim/health', port: 'http' })
    expect(readinessProbe.httpGet).toEqual({ path: '/_sim/ready', port: 'http' })
    for (const { httpGet } of [livenessProbe, readinessProbe, startupProbe])
      expect(openPaths).toContain(httpGet.path)
  })

  test('keeps its data in a folder that the user of the container creates in the volume', () => {
    const [mount] = container.volumeMounts.filter(({ name }) => name === 'data')
    const variable = container.env.find(({ name }) => name === 'TABWIRE_DATA_DIR')
    expect(variable?.value).toMatch(new RegExp(`^${mount?.mountPath}/[a-z]+$`))
  })
})
