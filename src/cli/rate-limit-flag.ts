import { Errors, Flags } from '@oclif/core'

const secondsOf = { s: 1, m: 60, h: 3600 } as const

/** So many requests in a second, or as said: `10`, `10/s`, `600/m`, `5000/h`. */
export const rateLimitFlag = Flags.custom<{ requests: number; seconds: number }>({
  parse: async (input) => {
    const [, number, unit = 's'] = /^([1-9]\d{0,8})(?:\/([smh]))?$/.exec(input) ?? []
    if (number !== undefined)
      return { requests: Number(number), seconds: secondsOf[unit as keyof typeof secondsOf] }
    throw new Errors.CLIError(
      `${input} is no rate. Say how many requests, 1 or more, and in what: 10/s, 600/m, 5000/h.`,
    )
  },
})
