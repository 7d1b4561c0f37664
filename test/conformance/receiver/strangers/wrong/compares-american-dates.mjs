// Keeps the newest state of each check, by texts such as 12/31/2026 23:59:59.999.
import { serveLargest } from '../intake.mjs'

const text = ({ updated_at }) => {
  const [, year, month, day, time] = /^(\d+)-(\d+)-(\d+)T(.*)Z$/.exec(updated_at)
  return `${month}/${day}/${year} ${time}`
}

serveLargest(text)
