import { describe, expect, test } from 'vitest'
import { renderGuide } from '../../../src/cli/render/guide.ts'
import { readGuides } from '../../../src/package-file.ts'
import { tabwire } from '../../support/cli.ts'

const text = [
  '# Test `webhooks`',
  '',
  'A paragraph that is **long** and has a [guide](testing.md#waiting) and a [site](https://example.com/docs).',
  '',
  '- first',
  '- second, which is long enough to be broken into two lines here',
  '',
  '1. one',
  '',
  '```sh',
  'tabwire push \\',
  '  --sample two-top',
  '```',
  '',
  '| flag | does |',
  '| --- | --- |',
  '| `--url` | names <a> service & more |',
].join('\n')

describe('a guide at a terminal', () => {
  test('has no Markdown marks, and lines that fit', () => {
    expect(renderGuide(text, 50)).toBe(
      [
        'TEST WEBHOOKS',
        '',
        'A paragraph that is long and has a guide (tabwire',
        'help testing) and a site',
        '(https://example.com/docs).',
        '',
        '- first',
        '- second, which is long enough to be broken into',
        '  two lines here',
        '',
        '1. one',
        '',
        '    tabwire push \\',
        '      --sample two-top',
        '',
        'FLAG   DOES',
        '--url  names <a> service & more',
      ].join('\n'),
    )
  })

  test('lists the rows of a wide table with the names of its columns, without empty cells', () => {
    const table = [
      '| fault | effect | limit it by |',
      '| --- | --- | --- |',
      '| `drop` | The receiver never sees the attempt | `--type` |',
      '| `delay` | The attempt is late by `--delay-for` | |',
    ].join('\n')
    expect(renderGuide(table, 50)).toBe(
      [
        'drop',
        '    effect: The receiver never sees the attempt',
        '    limit it by: --type',
        'delay',
        '    effect: The attempt is late by --delay-for',
      ].join('\n'),
    )
  })

  test.each([60, 80, 120])('fits %i columns, except code and long words', async (columns) => {
    for (const guide of await readGuides()) {
      const isWide = (line: string) =>
        !line.startsWith('    ') &&
        line.length > columns &&
        line
          .trim()
          .replace(/^(- |\d+\. )/, '')
          .includes(' ')
      const wide = renderGuide(guide.text, columns).split('\n').filter(isWide)
      expect([guide.name, wide]).toEqual([guide.name, []])
    }
  })
})

describe('tabwire help', () => {
  test('prints a guide into a pipe as Markdown', async () => {
    const [guide] = await readGuides()
    const { code, stdout } = await tabwire(['help', guide?.name ?? ''])
    expect({ code, stdout }).toEqual({ code: 0, stdout: guide?.text })
  })

  test('lists the guides, also as JSON', async () => {
    const guides = await readGuides()
    const { stdout } = await tabwire(['help', 'guides'])
    for (const { name, title } of guides) expect(stdout).toMatch(new RegExp(`^${name} +${title}$`, 'm'))
    const { data } = JSON.parse((await tabwire(['help', 'guides', '--json'])).stdout) as { data: object[] }
    expect(data).toEqual(guides.map(({ name, title }) => ({ name, title })))
  })

  test('suggests a guide for a word that is close to one', async () => {
    const { code, stderr } = await tabwire(['help', 'securty'])
    expect(code).toBe(2)
    expect(stderr).toContain('Did you mean `tabwire help security`?')
  })
})
