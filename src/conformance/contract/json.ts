/** The deepest nesting of a text that is read as JSON; what looks into values may recurse that far. */
const MAX_DEPTH = 100

/** The value of a JSON text; `undefined` when it is not JSON, or nested deeper than `MAX_DEPTH`. */
export function parseJson(text: string): unknown {
  if (isDeep(text)) return undefined
  try {
    // Some services begin with a byte-order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

/** Whether brackets outside of strings nest deeper than `MAX_DEPTH`. */
function isDeep(text: string): boolean {
  let depth = 0
  let isString = false
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (isString && character === '\\') index += 1
    else if (character === '"') isString = !isString
    else if (isString) continue
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > MAX_DEPTH) return true
  }
  return false
}
