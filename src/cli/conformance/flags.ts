import { Flags } from '@oclif/core'
import { fromEnvironment } from '../flags.ts'

/** What every conformance check takes: how to report, and which cases. */
export const conformanceFlags = fromEnvironment({
  junit: Flags.string({ description: 'Also write the report to this file, as JUnit XML.' }),
  tap: Flags.boolean({ description: 'Print the report as TAP 14.', exclusive: ['json'] }),
  strict: Flags.boolean({ description: 'Fail cases that rest on advice, too.' }),
  only: Flags.string({
    description: 'Only these cases or groups: case, group or group/case; repeatable.',
    multiple: true,
    multipleNonGreedy: true,
  }),
  skip: Flags.string({
    description: 'All but these cases or groups; repeatable.',
    multiple: true,
    multipleNonGreedy: true,
  }),
})
