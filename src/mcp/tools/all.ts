import type { Tool } from '../tool.ts'
import { checks, guests, push, triggerTool } from './checks.ts'
import { deliveriesList, deliveriesResend, deliveriesShow, deliveriesWait, endpoints } from './deliveries.ts'
import { clock, faults, guideSearch, report } from './controls.ts'
import { receiverCheck, verify } from './signatures.ts'

/** All tools, in the order in which clients list them. */
export const tools: readonly Tool[] = [
  push,
  checks,
  triggerTool,
  guests,
  endpoints,
  deliveriesList,
  deliveriesShow,
  deliveriesWait,
  deliveriesResend,
  verify,
  receiverCheck,
  report,
  clock,
  faults,
  guideSearch,
]
