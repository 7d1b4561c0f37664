/* Draws a terminal's screen as SVG: each run of one style at its column, so that fonts cannot shift it. */
import stringWidth from 'fast-string-width'

const CELL = { width: 8.4, height: 18, size: 14 }
const MARGIN = 16
const COLOURS = {
  30: '#1c1f26',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  39: '#d6dae1',
}
const BACKGROUNDS = { 42: '#7ee787', 43: '#e3b341', 107: '#ffffff', 49: undefined }

/** Draws terminal output: `text` with its escape sequences, below the typed command `prompt`. */
export function drawTerminal({ text, prompt, columns }) {
  const lines = [`\u001b[2m$\u001b[22m \u001b[1m${prompt}\u001b[22m`, ...visible(text).split('\n')].map(
    runsOf,
  )
  while (lines.at(-1)?.every(({ text: run }) => run.trim() === '')) lines.pop()
  const width = columns * CELL.width + 2 * MARGIN
  const height = lines.length * CELL.height + 2 * MARGIN
  const body = lines.flatMap((runs, row) => runs.map((run) => drawRun(run, row)))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" viewBox="0 0 ${Math.ceil(width)} ${height}" role="img" aria-label="${escape(prompt)}">`,
    `<rect width="100%" height="100%" rx="8" fill="#12151b"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${CELL.size}" xml:space="preserve">`,
    ...body,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** Removes cleared lines and cursor movements. */
function visible(text) {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[^\n]*\u001b\[(?:J|[02]K)/g, '')
    .replace(/\u001b\[(?:\?\d+[lh]|\d*G)/g, '')
}

function runsOf(line) {
  const style = { colour: COLOURS[39], background: undefined, bold: false, dim: false }
  const runs = []
  let column = 0
  for (const [, codes, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (text === undefined) for (const code of codes.split(';')) apply(style, Number(code))
    else {
      // Word by word, because SVG renderers may collapse spaces.
      for (const [word] of text.matchAll(style.background ? /[^]+/g : /\S+|\s+/g)) {
        const width = stringWidth(word)
        runs.push({ ...style, text: word, column, width })
        column += width
      }
    }
  }
  return runs
}

function apply(style, code) {
  if (code === 0)
    Object.assign(style, { colour: COLOURS[39], background: undefined, bold: false, dim: false })
  if (code === 1) style.bold = true
  if (code === 2) style.dim = true
  if (code === 22) Object.assign(style, { bold: false, dim: false })
  if (code in COLOURS) style.colour = COLOURS[code]
  if (code in BACKGROUNDS) style.background = BACKGROUNDS[code]
}

function drawRun({ text, column, width, colour, background, bold, dim }, row) {
  const x = round(MARGIN + column * CELL.width)
  const y = MARGIN + row * CELL.height
  const box = background
    ? `<rect x="${x}" y="${y}" width="${round(width * CELL.width)}" height="${CELL.height}" fill="${background}"/>`
    : ''
  if (text.trim() === '') return box
  const attributes = [bold ? ' font-weight="bold"' : '', dim ? ' opacity="0.6"' : ''].join('')
  const lead = text.length - text.trimStart().length
  const start = round(MARGIN + (column + lead) * CELL.width)
  const length = round(stringWidth(text.trim()) * CELL.width)
  return `${box}<text x="${start}" y="${y + 13}" fill="${colour}" textLength="${length}"${attributes}>${escape(text.trim())}</text>`
}

function round(number) {
  return Math.round(number * 10) / 10
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
