import chalk from 'chalk'
import { encode, renderSVG } from 'uqr'

/** Width of the light border that scanners require, in modules. */
const QUIET_ZONE = 4
/** Level M: up to 15 % of the code can be hidden. */
const options = { ecc: 'M', border: QUIET_ZONE } as const

/** Returns the modules of a QR code with its border, row by row; `true` is dark. */
export function qrModules(text: string): boolean[][] {
  return encode(text, options).data
}

/** Returns the QR code as SVG. */
export function qrSvg(text: string): string {
  return renderSVG(text, options)
}

/**
 * Renders half blocks, two rows of modules per line: black on white with colours, whatever the terminal's own are;
 * without colours the light modules are drawn, as for a dark terminal.
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
