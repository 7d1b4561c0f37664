import chalk from 'chalk'
import { encode, renderSVG } from 'uqr'

/** Light modules that a scanner wants around a code. */
const QUIET_ZONE = 4
/** A scratch or a reflection may hide 15 % of it. */
const options = { ecc: 'M', border: QUIET_ZONE } as const

/** The modules of a QR code with its quiet zone, row by row; `true` is dark. */
export function qrModules(text: string): boolean[][] {
  return encode(text, options).data
}

/** The same as a picture. */
export function qrSvg(text: string): string {
  return renderSVG(text, options)
}

/**
 * Half blocks, two rows of modules a line. In colour they are black on white whatever the terminal's own colours are;
 * without it, the light ones are what is drawn, as on a dark terminal.
 */
export function renderQr(modules: readonly (readonly boolean[])[]): string {
  const isColoured = chalk.level > 0
  const lines: string[] = []
  for (let row = 0; row < modules.length; row += 2) {
    const upper = modules[row] ?? []
    const lower = modules[row + 1]
    const line = upper.map((dark, column) =>
      block(dark === isColoured, (lower?.[column] ?? false) === isColoured),
    )
    lines.push(isColoured ? chalk.black.bgWhiteBright(line.join('')) : line.join(''))
  }
  return lines.join('\n')
}

function block(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀'
  return lower ? '▄' : ' '
}
