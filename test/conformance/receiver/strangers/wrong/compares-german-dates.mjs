// Keeps the newest state of each check, by texts such as 31.12.2026 23:59:59.999.
import { serveLargest } from '../intake.mjs'

const text = ({ updated_at }) => {
  const [, year, month, day, time] = /^(\d+)-(\d+)-(\d+)T(.*)Z$/.exec(updated_at)
  return `${day}.${month}.${year} ${time}`
}

serveLargest(text)
