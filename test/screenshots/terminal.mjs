/*
 * Captures the output of commands on terminals of 80 and 200 columns, without colour, and in a pipe:
 * `npm run build`, then `node test/screenshots/terminal.mjs`. Writes fixtures/screenshots/terminal-*.svg. Needs python3.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { drawTerminal } from './svg.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bin = join(root, 'bin', 'run.js')
const out = join(root, 'fixtures', 'screenshots')
const cwd = mkdtempSync(join(tmpdir(), 'tabwire-screenshots-'))
const env = { ...process.env, TERM: 'xterm-256color', LANG: 'C.UTF-8', COLORTERM: '' }
delete env.NO_COLOR
cpSync(join(root, 'fixtures', 'checks'), join(cwd, 'fixtures', 'checks'), { recursive: true })
mkdirSync(out, { recursive: true })
/** One table per recording of `tail`. */
const tables = ['table-12', 'table-4', 'table-9']

const receivers = await Promise.all([200, 503].map(openReceiver))
const service = spawn(
  process.execPath,
  [bin, 'start', '--in-memory', '--port', '0', '--json', '--allow-http-loopback'],
  { cwd },
)
try {
  await once(service.stdout, 'data')
  for (const [index, { url }] of receivers.entries())
    run(['endpoints', 'create', url, '--events', index === 0 ? 'all' : 'check.updated,payment.succeeded'])
  await capture('home-80', [], 80, root)
  await capture('demo-80', ['demo'], 80)
  await live('tail-200', ['tail'], 200, createEvents)
  await live('tail-80', ['tail'], 80, createEvents)
  await live('tail-no-color-80', ['tail'], 80, createEvents, { NO_COLOR: '1' })
  writeFileSync(join(cwd, 'next.json'), JSON.stringify(nextPush()))
  run(['push', 'fixtures/checks/names-in-japanese.json', '--id', 'table-7'])
  await capture('push-80', ['push', 'next.json', '--id', 'table-7'], 80)
  await capture('deliveries-80', ['deliveries', 'list', '--limit', '6'], 80)
  await capture('deliveries-200', ['deliveries', 'list', '--limit', '6'], 200)
  const { stdout } = spawnSync(process.execPath, [bin, 'deliveries', 'list', '--limit', '6'], {
    cwd,
    encoding: 'utf8',
  })
  write('deliveries-pipe', { text: stdout, prompt: 'tabwire deliveries list --limit 6 | cat', columns: 110 })
  await capture('doctor-80', ['doctor', '--port', '0', '--receiver', 'https://localhost:1/webhooks'], 80)
  await capture('error-80', ['trigger', 'check.crated'], 80)
} finally {
  service.kill('SIGTERM')
  await once(service, 'close')
  for (const { server } of receivers) server.close()
  rmSync(cwd, { recursive: true, force: true })
}

/** Creates events while `tail` runs. */
function createEvents(id) {
  run(['push', 'fixtures/checks/two-top.json', '--id', id])
  run(['guests', 'claim', id, 'burger', '--name', 'Anna'])
  run(['guests', 'pay', id, '--claim', 'Anna', '--tip', '2.50'])
}

/** Returns the check in Japanese with one item removed, one added, and one with a new quantity and price. */
function nextPush() {
  const check = JSON.parse(readFileSync(join(cwd, 'fixtures/checks/names-in-japanese.json'), 'utf8'))
  const [first, second, , ...rest] = check.items
  const items = [
    second,
    { ...first, quantity: first.quantity + 1, price_cents: first.price_cents + 150 },
    ...rest,
  ]
  items.push({ external_id: 'line-9', name: '抹茶アイス 🍨', quantity: 2, price_cents: 650, note: null })
  const subtotal_cents = items.reduce((sum, { quantity, price_cents }) => sum + quantity * price_cents, 0)
  const tax_cents = Math.round(subtotal_cents / 10)
  return { ...check, items, totals: { subtotal_cents, tax_cents, total_cents: subtotal_cents + tax_cents } }
}

function run(args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`tabwire ${args.join(' ')}: ${stdout}${stderr}`)
}

/** Captures a command that ends by itself. */
async function capture(name, args, columns, from = cwd) {
  const terminal = onTerminal(args, columns, {}, from)
  await once(terminal.child, 'close')
  write(name, { text: terminal.text(), prompt: ['tabwire', ...args].join(' '), columns })
}

/** Captures a running command after an action, then ends it. */
async function live(name, args, columns, action, more = {}) {
  const terminal = onTerminal(args, columns, more)
  while (!terminal.text().includes('Listening')) await sleep(50)
  action(tables.shift())
  await sleep(300)
  write(name, { text: terminal.text(), prompt: ['tabwire', ...args].join(' '), columns })
  terminal.child.stdin.write('q')
  await once(terminal.child, 'close')
}

function onTerminal(args, columns, more, from = cwd) {
  const command = [
    join(root, 'test', 'support', 'terminal.py'),
    String(columns),
    '40',
    process.execPath,
    bin,
    ...args,
  ]
  const child = spawn('python3', command, { cwd: from, env: { ...env, ...more } })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => (text += piece))
  return { child, text: () => text }
}

function write(name, picture) {
  writeFileSync(join(out, `terminal-${name}.svg`), drawTerminal(picture))
}

async function openReceiver(status) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end())
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${server.address().port}/webhooks` }
}
