import { Errors, Flags } from '@oclif/core'
import { orderFieldIssue } from '../../model/revision.ts'

/** Between the first and the last year of which identifiers and texts sort by time. */
export const clockFlag = Flags.custom<Date>({
  parse: async (input) => {
    const year = /^(\d{4})-\d\d-\d\d/.exec(input)?.[1] ?? ''
    if (year >= '1970' && year <= '9998' && !Number.isNaN(Date.parse(input))) return new Date(input)
    throw new Errors.CLIError(`${input} is no ISO 8601 time from 1970 to 9998, such as 2026-11-21T18:00:00Z.`)
  },
})

/** Node would listen on every address of the machine. */
export const hostFlag = Flags.custom({
  parse: async (input) => {
    if (input !== '') return input
    throw new Errors.CLIError('--host is empty. Name an address to listen on, such as 127.0.0.1.')
  },
})

/** The field of a push that orders pushes. */
export const orderByFlag = Flags.custom({
  parse: async (input) => {
    const issue = orderFieldIssue(input)
    if (issue === undefined) return input
    throw new Errors.CLIError(
      `--order-by must be a field of a push that orders pushes, such as updated_at, got ${JSON.stringify(input)}: ${issue}.`,
    )
  },
})
