// Keeps the newest state of each check, by texts such as 2026-12-31 11:59:59.999 PM.
import { serveLargest } from '../intake.mjs'

const text = ({ updated_at }) => {
  const [, date, hour, rest] = /^(.*)T(\d+):(.*)Z$/.exec(updated_at)
  const half = String(hour % 12 || 12).padStart(2, '0')
  return `${date} ${half}:${rest} ${hour < 12 ? 'AM' : 'PM'}`
}

serveLargest(text)
