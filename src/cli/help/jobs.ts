import { exampleCheck } from '../push/example-check.ts'
import { suggestion } from '../suggestion.ts'

/** What somebody comes for, with the commands that do it. */
export interface Job {
  what: string
  commands: readonly string[]
}

/** The four main jobs, as `tabwire` alone shows them. A test runs the help of each command. */
export function mainJobs(): Job[] {
  return [
    { what: 'Run the service on this machine', commands: ['tabwire start'] },
    {
      what: 'Push a check, and watch its webhooks',
      commands: [suggestion('push', [exampleCheck()]), 'tabwire tail'],
    },
    {
      what: 'Check that a receiver verifies what it gets',
      commands: ['tabwire receiver check https://localhost:8443/webhooks --secret whsec_…'],
    },
    {
      what: 'Check an integration, here or in CI',
      commands: ['tabwire report --fail-on any', 'tabwire contract check --junit contract.xml'],
    },
  ]
}
