// Keeps the newest state of each check, by the time of day alone.
import { serveLargest } from '../intake.mjs'

const text = ({ updated_at }) => updated_at.slice(11)

serveLargest(text)
