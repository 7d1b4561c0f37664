import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { emptyDirectory, serve, spawnProcess } from './support/cli.ts'
import { root } from './support/packed.ts'

// There is no Docker where these tests run: this is what can be known of the file without it.
let instructions: { name: string; text: string }[]
beforeAll(async () => {
  const text = await readFile(join(root, 'Dockerfile'), 'utf8')
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '')
  instructions = lines.map((line) => {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    return { name, text: rest }
  })
})

/** Returns the values of these instructions in the last stage, which is the image. */
const inImage = (name: string) =>
  instructions
    .slice(instructions.findLastIndex((instruction) => instruction.name === 'FROM'))
    .filter((instruction) => instruction.name === name)
    .map(({ text }) => text)

describe('the Dockerfile', () => {
  test('has only known instructions, and base images with long-term support', () => {
    const known =
      'ARG FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD'.split(' ')
    expect(instructions.filter(({ name }) => !known.includes(name))).toEqual([])
    const images = instructions.filter(({ name }) => name === 'FROM').map(({ text }) => text)
    expect(images).toEqual(['${NODE_IMAGE} AS packed', '${NODE_IMAGE}'])
    // One place in which a digest stands for good, or is passed.
    const given = instructions.filter(({ name }) => name === 'ARG').map(({ text }) => text)
    expect(given).toEqual([expect.stringMatching(/^NODE_IMAGE=node:24-alpine(@sha256:[0-9a-f]{64})?$/)])
  })

  test('installs the packed file, and copies nothing else into the image', () => {
    expect(inImage('RUN').join()).toMatch(/npm install --global .* \/packed\/\*\.tgz pg@8 /)
    expect(inImage('COPY')).toEqual([])
  })

  test.skipIf(process.platform === 'win32')('packs into a directory that it creates', async () => {
    const packed = join(await emptyDirectory(), 'packed')
    const command = instructions.find(({ name }) => name === 'RUN')?.text ?? ''
    // The packages are installed here, and dist is built.
    const here = command.replace(/^npm ci [^&]*&& /, '').replaceAll('/packed', packed)
    const { code, stderr } = await (
      await spawnProcess('sh', ['-c', `${here} --ignore-scripts`], { cwd: root })
    ).ended
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(await readdir(packed)).toEqual([expect.stringMatching(/^tabwire-.*\.tgz$/)])
  })

  test('makes an image that runs without root, stops like start, and keeps its data', () => {
    expect(inImage('USER')).toEqual(['node'])
    expect(inImage('STOPSIGNAL')).toEqual(['SIGTERM'])
    expect(inImage('VOLUME')).toEqual(['/data'])
    expect(inImage('ENTRYPOINT')).toEqual(['["tabwire"]'])
    expect(inImage('CMD')).toEqual(['["start"]'])
  })

  test('sets known variables of start and doctor, and exposes the port of start', async () => {
    const manifest = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8')) as {
      commands: { start: { flags: Record<string, { env: string; default?: unknown }> } }
    }
    const { flags } = manifest.commands.start
    const port = String(flags.port?.default)
    expect(inImage('EXPOSE')).toEqual([port])
    expect(inImage('ENV').join(' ')).toContain(`TABWIRE_PUBLIC_URL=http://localhost:${port}`)
    const variables =
      inImage('ENV')
        .join(' ')
        .match(/TABWIRE_\w+/g) ?? []
    expect(variables).toContain('TABWIRE_IMAGE')
    const ofStart = variables.filter((name) => name !== 'TABWIRE_IMAGE')
    expect(Object.values(flags).map(({ env }) => env)).toEqual(expect.arrayContaining(ofStart))
  })

  test.each(['http', 'https'])('is healthy while the service answers by %s', async (scheme) => {
    const [, command = '[]'] = /CMD (\[.*\])$/.exec(inImage('HEALTHCHECK')[0] ?? '') ?? []
    const [, ...args] = JSON.parse(command) as string[]
    const check = async (port: string) =>
      (await (await spawnProcess(process.execPath, args, { env: { TABWIRE_PORT: port } })).ended).code
    const service = await serve({ https: scheme === 'https' })
    const { port } = new URL(service.url)
    expect(await check(port)).toBe(0)
    await service.stop()
    expect(await check(port)).toBe(1)
  })
})
