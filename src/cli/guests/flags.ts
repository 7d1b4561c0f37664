import { Args, Flags } from '@oclif/core'

/** Whose deed it is. */
export const nameFlag = Flags.string({ char: 'n', description: "The guest's name; it identifies nobody." })

/** The check that a guest sits at. */
export const checkArg = Args.string({
  ignoreStdin: true,
  description: 'The external id of the check.',
  required: true,
})
