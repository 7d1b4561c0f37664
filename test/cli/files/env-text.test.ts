import { describe, expect, test } from 'vitest'
import { withVariables } from '../../../src/cli/files/env-file.ts'

const replaced = (text: string, A = 'new') => withVariables(text, { A })

describe('variables in the text of a .env file', () => {
  test.each([
    ['plain', 'A=old\n', 'A=new\n'],
    ['empty', 'A=\nB=1\n', 'A=new\nB=1\n'],
    ['exported and indented', '  export A = old\n', '  export A = new\n'],
    ['with a comment', 'A=old # why\n', 'A=new # why\n'],
    ['empty, with a comment', 'A= # why\n', 'A= new # why\n'],
    ['with a # in it', 'A=old#1\n', 'A=new\n'],
    ['in quotes', 'A="an \\"old\\" # one" # why\n', 'A=new # why\n'],
    ['over several lines', "A='one\ntwo'\nB=1\n", 'A=new\nB=1\n'],
    ['twice', 'A=1\nB=2\nA=3\n', 'A=new\nB=2\nA=new\n'],
    ['at the end, without a line end', 'B=1\nA=old', 'B=1\nA=new'],
    ['after a byte-order mark', '\xef\xbb\xbfA=old\nB=1\n', '\xef\xbb\xbfA=new\nB=1\n'],
    ['between Windows line ends', 'B=1\r\nA=old\r\nC=3\r\n', 'B=1\r\nA=new\r\nC=3\r\n'],
  ])('are replaced in place: %s', (_how, before, after) => expect(replaced(before)).toBe(after))

  test.each([
    ['in an empty file', '', 'A=new\n'],
    ['after nothing but a byte-order mark', '\xef\xbb\xbf', '\xef\xbb\xbfA=new\n'],
    ['after the last line', 'B=1\n', 'B=1\nA=new\n'],
    ['after a last line without an end', 'B=1', 'B=1\nA=new\n'],
    ['with Windows line ends', 'B=1\r\nC=2', 'B=1\r\nC=2\r\nA=new\r\n'],
    ['beside one that is commented out', '# A=old\n', '# A=old\nA=new\n'],
    ['beside one whose name only begins alike', 'AB=1\nxA=2\n', 'AB=1\nxA=2\nA=new\n'],
    ['beside lines that are inside of quotes', 'PEM="one\nA=old\n"\n', 'PEM="one\nA=old\n"\nA=new\n'],
    ['beside lines that are not assignments', 'A\n=A\ntoString=1\n', 'A\n=A\ntoString=1\nA=new\n'],
  ])('are added at the end: %s', (_how, before, after) => expect(replaced(before)).toBe(after))

  test('are quoted where a shell would change them, and $ is not expanded', () => {
    const values = ['http://127.0.0.1:1/v1', 'whsec_a-b_c=', 'http://[::1]:1', 'a b', "it's $HOME", '$&', '']
    expect(values.map((value) => replaced('A=old', value))).toEqual([
      'A=http://127.0.0.1:1/v1',
      'A=whsec_a-b_c=',
      "A='http://[::1]:1'",
      "A='a b'",
      'A="it\'s \\$HOME"',
      "A='$&'",
      'A=',
    ])
  })

  test('stay the same when they are written again', () => {
    const once = withVariables('# app\nB=1\n', { A: 'a b', C: "it's" })
    expect(withVariables(once, { A: 'a b', C: "it's" })).toBe(once)
  })
})
