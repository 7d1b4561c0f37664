// Keeps the newest state of each check, with times in a column of whole seconds.
import { serveLargest } from '../intake.mjs'

serveLargest((check) => Math.floor(Date.parse(check.updated_at) / 1000))
