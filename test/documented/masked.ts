/** Returns a text without what differs from run to run: ids, times, durations, offsets, and how lines are broken. */
export function masked(text: string): string {
  return text
    .replace(/\b(chk|clm|pay|fbk|loc|we|evt|dlv|key|req)_[0-9A-Z]{26}\b/g, '$1_ID')
    .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z?|\b\d\d:\d\d:\d\d\b/g, 'TIME')
    .replace(/\b\d+(?:\.\d+)? ?m?s\b/g, 'DURATION')
    .replace(/^(offset +).+$/gm, '$1OFFSET')
    .replace(/\s+/g, ' ')
    .trim()
}
