import type { Block } from './blocks.ts'

/** A block that does not run in the usual way. */
export interface Exception {
  document: string
  /** Start of the block's text. */
  starts: string
  /** Why it cannot run here. */
  skipped?: string
  /** Test that runs it instead. */
  elsewhere?: string
  /** Exit code that the document names; 0 by default. */
  code?: number
  /** Whether it prints an error although it passes. */
  printsErrors?: boolean
}

const needsNetwork = 'installs from a registry'
const needsDocker = 'needs Docker and an image from a registry'
const needsAgent = 'needs a coding agent'
const needsWindows = 'changes settings of Windows'

export const exceptions: readonly Exception[] = [
  { document: 'README.md', starts: 'npm install --global', skipped: needsNetwork },
  { document: 'README.md', starts: 'npm install --save-dev', skipped: needsNetwork },
  { document: 'README.md', starts: 'npm ci && npm start', skipped: 'installs a clone and runs this suite' },
  { document: 'README.md', starts: 'curl -fsSL', elsewhere: 'test/release/downloads.test.ts' },
  { document: 'README.md', starts: 'irm https:', skipped: needsWindows },
  { document: 'README.md', starts: 'docker build', skipped: needsDocker },
  {
    document: 'README.md',
    starts: 'tabwire receiver example node >',
    skipped: 'a receiver of this suite has the port',
  },
  { document: 'src/guides/testing.md', starts: 'npm install', skipped: needsNetwork },
  { document: 'src/guides/upgrading.md', starts: 'npm install', skipped: needsNetwork },
  { document: 'src/guides/commands.md', starts: 'npx openapi-typescript', skipped: needsNetwork },
  { document: 'src/guides/containers.md', starts: 'docker build', skipped: needsDocker },
  { document: 'src/guides/containers.md', starts: 'docker run --detach', skipped: needsDocker },
  { document: 'src/guides/containers.md', starts: 'docker exec tabwire tabwire certs', skipped: needsDocker },
  { document: 'src/guides/shared-sandbox.md', starts: 'npm install', skipped: needsNetwork },
  {
    document: 'src/guides/shared-sandbox.md',
    starts: 'tabwire start --store',
    elsewhere: 'test/commands/start-store.test.ts',
  },
  {
    document: 'src/guides/shared-sandbox.md',
    starts: 'tabwire doctor --store',
    skipped: 'needs a database of the user',
  },
  {
    document: 'src/guides/shared-sandbox.md',
    starts: 'CREATE ROLE tabwire LOGIN',
    elsewhere: 'test/store/postgres/start-errors.test.ts',
  },
  {
    document: 'src/guides/shared-sandbox.md',
    starts: 'CREATE ROLE tabwire_runtime',
    elsewhere: 'test/store/postgres/start-errors.test.ts',
  },
  {
    document: 'src/guides/shared-sandbox.md',
    starts: 'ignore_startup_parameters',
    skipped: 'needs a pooler',
  },
  {
    document: 'src/guides/shared-sandbox.md',
    starts: 'tabwire listen --url',
    skipped: 'needs a sandbox of the user',
  },
  { document: 'src/guides/shared-sandbox.md', starts: 'openssl rand', skipped: 'prints a new key' },
  { document: 'src/guides/shared-sandbox.md', starts: 'pg_dump', skipped: 'needs a database of the user' },
  {
    document: 'src/guides/containers.md',
    starts: 'docker compose --file webhooks/compose.yaml up',
    skipped: needsDocker,
  },
  {
    document: 'src/guides/containers.md',
    starts: 'docker compose --file webhooks/compose.yaml exec',
    skipped: needsDocker,
  },
  {
    document: 'src/guides/containers.md',
    starts: 'tabwire listen --url http://localhost:4100',
    skipped: needsDocker,
  },
  { document: 'src/guides/windows.md', starts: 'Set-ExecutionPolicy', skipped: needsWindows },
  { document: 'src/guides/windows.md', starts: 'git config', skipped: needsWindows },
  { document: 'src/guides/windows.md', starts: 'git clone', skipped: needsWindows },
  { document: 'src/guides/ci.md', starts: 'pipeline {', elsewhere: 'test/pipelines.test.ts' },
  { document: 'src/guides/ci.md', starts: '#!/bin/sh', elsewhere: 'test/ci-script.test.ts' },
  { document: 'src/guides/webhooks.md', starts: 'refuses\n', elsewhere: 'test/documented/reports.test.ts' },
  { document: 'src/guides/webhooks.md', starts: 'converges\n', elsewhere: 'test/documented/reports.test.ts' },
  {
    document: 'src/guides/webhooks.md',
    starts: 'tabwire receiver check http://localhost:3000/webhooks',
    elsewhere: 'test/documented/reports.test.ts',
  },
  { document: 'src/guides/agents.md', starts: 'claude mcp add tabwire', skipped: needsAgent },
  { document: 'src/guides/agents.md', starts: 'claude mcp add --transport', skipped: needsAgent },
  { document: 'src/guides/agents.md', starts: '{\n  "mcpServers"', elsewhere: 'test/mcp/guide.test.ts' },
  { document: 'src/guides/agents.md', starts: '{\n  "servers"', elsewhere: 'test/mcp/guide.test.ts' },
  {
    document: 'fixtures/skills/tabwire/SKILL.md',
    starts: 'tabwire receiver check',
    code: 3,
  },
  { document: 'src/guides/webhooks.md', starts: 'node -e', code: 3 },
  { document: 'src/guides/guests-and-scenarios.md', starts: 'tabwire scenario explore tab.json\n', code: 3 },
  {
    document: 'src/guides/guests-and-scenarios.md',
    starts: 'tabwire scenario explore tab.json --receiver',
    elsewhere: 'test/commands/scenario-explore.test.ts',
  },
  { document: 'src/guides/ci.md', starts: 'tabwire push --sample service', code: 3 },
  { document: 'src/guides/ci.md', starts: 'tabwire exec --allow-http-loopback', printsErrors: true },
  // Their commands send no request.
  {
    document: 'src/guides/ci.md',
    starts: 'tabwire exec --fail-on any -- node --version',
    printsErrors: true,
  },
  { document: 'fixtures/skills/tabwire/SKILL.md', starts: 'tabwire exec -- node --test', printsErrors: true },
  { document: 'fixtures/README.md', starts: 'tabwire exec', printsErrors: true },
  { document: 'src/guides/fault-injection.md', starts: 'tabwire faults set lost_answer', printsErrors: true },
  {
    document: 'src/guides/service.md',
    starts: '{"id":"evt_',
    elsewhere: 'test/service-reference.test.ts',
  },
  {
    document: 'src/guides/service.md',
    starts: 'X-Service-Signature: t=',
    elsewhere: 'test/service-reference.test.ts',
  },
]

export function exceptionOf({ document, text }: Block): Exception | undefined {
  return exceptions.find((one) => one.document === document && text.startsWith(one.starts))
}
