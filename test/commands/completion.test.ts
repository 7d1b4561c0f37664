import { spawnSync } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bin, checkBody, emptyDirectory, serve, spawnProcess, tabwire } from '../support/cli.ts'
import { isInstalled } from '../support/programs.ts'

describe.concurrent('tabwire completion', () => {
  test.each(['bash', 'zsh', 'fish'])('prints a script for %s', async (shell) => {
    const { code, stdout } = await tabwire(['completion', shell])
    expect(code).toBe(0)
    expect(stdout).toContain('tabwire complete -- ')
  })

  for (const shell of ['bash', 'zsh', 'fish'])
    test.skipIf(!isInstalled(shell))(`prints a script that ${shell} can read`, async () => {
      const file = join(await emptyDirectory(), 'script')
      await writeFile(file, (await tabwire(['completion', shell])).stdout)
      const { status, stderr } = spawnSync(shell, ['-n', file])
      expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' })
    })

  test('prints a script for PowerShell, and as JSON', async () => {
    const { stdout } = await tabwire(['completion', 'powershell'])
    expect(stdout).toMatch(/Register-ArgumentCompleter -CommandName 'tabwire' /)
    const { stdout: json } = await tabwire(['completion', 'powershell', '--json'])
    expect(JSON.parse(json)).toEqual({ shell: 'powershell', script: stdout })
  })

  test('refuses an unknown shell with the list of known ones', async () => {
    const { code, stderr } = await tabwire(['completion', 'ksh'])
    expect(code).toBe(2)
    expect(stderr).toContain('bash, zsh, fish, powershell')
  })
})

describe.concurrent('tabwire complete', () => {
  const complete = async (...words: string[]) => (await tabwire(['complete', '--', ...words])).stdout

  test('prints a line for each suggestion, and whether files are suggested too', async () => {
    expect(await complete('clock', 'f')).toBe('freeze\tFreeze the clock.\n:4\n')
    expect(await complete('trigger', 'claim')).toBe('claim.created\n:4\n')
    expect(await complete('push', '')).toBe(':0\n')
    expect(await complete('scenario', 'run', 'w')).toBe('walk-out\n:0\n')
    expect(await complete('keys', 'create', '--scopes', 'w')).toBe('write\n:4\n')
  })

  test('reads flags after the first word as words to complete, not as its own flags', async () => {
    expect(await complete('push', '--json', '--rep')).toMatch(/^--repeat\t.*\n:4\n$/)
    expect(await complete('push', '--help', '--version', '--rep')).toMatch(/^--repeat\t/)
  })

  test('suggests nothing without a service, and without arguments refers to completion', async () => {
    expect(await complete('ping', '--url', 'http://127.0.0.1:1', '')).toBe(':4\n')
    const { code, stderr } = await tabwire(['complete'])
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('completion SHELL') as string,
    })
  })
})

test('tabwire complete looks up the records of the profile that was typed', async () => {
  const service = await serve()
  onTestFinished(() => service.stop().then(() => undefined))
  await service.call('PUT', '/v1/checks/external/dinner', checkBody())
  const cwd = await emptyDirectory()
  const near = { url: service.url, api_key_env: 'NEAR_KEY' }
  await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ profiles: { near } }))
  const words = ['complete', '--', 'checks', 'show', '--profile', 'near', '']
  const { stdout } = await tabwire(words, { cwd, env: { NEAR_KEY: service.key } })
  expect(stdout).toMatch(/^dinner\t.*\n:4\n$/)
})

test('tabwire complete reads ~ in the values of flags as the home directory', async () => {
  const cwd = await emptyDirectory()
  await writeFile(
    join(cwd, 'site.json'),
    JSON.stringify({ profiles: { near: { url: 'http://127.0.0.1:1' } } }),
  )
  const words = ['complete', '--', 'push', '--config', '~/site.json', '--profile', '']
  const { stdout } = await tabwire(words, { env: { HOME: cwd, USERPROFILE: cwd } })
  expect(stdout).toBe('near\n:4\n')
})

/** Runs a program of a shell that finds `tabwire` on its path. */
async function inShell(shell: string, program: string): Promise<{ stdout: string; stderr: string }> {
  const folder = await emptyDirectory()
  await chmod(bin, 0o755)
  await symlink(bin, join(folder, 'tabwire'))
  const env = { PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` }
  const { stdout, stderr } = await (await spawnProcess(shell, ['-c', program], { env })).ended
  return { stdout, stderr }
}

test.skipIf(!isInstalled('bash'))(
  'in bash, suggestions are inserted unchanged, and the script can be loaded twice',
  async () => {
    const outcome = await inShell(
      'bash',
      `
eval "$(tabwire completion bash)"; eval "$(tabwire completion bash)"
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tabwire; echo "\${COMPREPLY[@]}"; }
try tabwire deliveries w
try tabwire deliveries list --status =
try tabwire deliveries list --status = del
complete -p tabwire`,
    )
    expect(outcome).toEqual({
      stdout:
        'wait\npending retrying held delivered dead\ndelivered\ncomplete -o default -F _tabwire tabwire\n',
      stderr: '',
    })
  },
)

/** Creates a settings file with the profile `near`, in a folder with a space in its name. Returns its path. */
async function settingsInSpacedFolder(): Promise<string> {
  const folder = join(await emptyDirectory(), 'my site')
  await mkdir(folder)
  const file = join(folder, 'c.json')
  await writeFile(file, JSON.stringify({ profiles: { near: { url: 'http://127.0.0.1:1' } } }))
  return file
}

test.skipIf(!isInstalled('bash'))('in bash, words are completed without their quotes', async () => {
  const file = await settingsInSpacedFolder()
  const outcome = await inShell(
    'bash',
    `
eval "$(tabwire completion bash)"
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tabwire; echo "\${COMPREPLY[@]}"; }
try tabwire push --config '"${file}"' --profile ''
try tabwire push --config "'${file}'" --profile ''
try tabwire push --config '${file.replaceAll(' ', '\\ ')}' --profile ''
try tabwire deliveries list --status '"del'
try tabwire push --id '"$(echo run >&2)"' --sample two`,
  )
  expect(outcome).toEqual({ stdout: 'near\nnear\nnear\ndelivered\ntwo-top\n', stderr: '' })
})

test.skipIf(!isInstalled('fish'))('in fish, words are completed without their quotes', async () => {
  const file = await settingsInSpacedFolder()
  const folder = file.replace(/ site.*$/, '')
  const program = `tabwire completion fish | source
complete -C 'tabwire push --config "${file}" --profile '
complete -C 'tabwire deliveries list --status "del'
complete -C 'tabwire push ${folder}\\ s'
complete -C 'tabwire push "${folder} s'`
  expect(await inShell('fish', program)).toEqual({
    stdout: `near\ndelivered\n${folder} site/\n${folder} site/\n`,
    stderr: '',
  })
})

test.skipIf(!isInstalled('fish'))('in fish, suggestions after = keep their flag', async () => {
  const program = 'tabwire completion fish | source; complete -C "tabwire deliveries list --status=del"'
  expect(await inShell('fish', program)).toEqual({ stdout: '--status=delivered\n', stderr: '' })
})
