/** What a matcher tells vitest. `message` is for when the test fails, with or without `.not`. */
export interface Outcome {
  pass: boolean
  message: () => string
}

export function passed(unless: string): Outcome {
  return { pass: true, message: () => unless }
}

export function failed(message: string): Outcome {
  return { pass: false, message: () => message }
}
