import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import { generateApi } from 'swagger-typescript-api'
import { openApiDocument } from '../../../../src/http/openapi/document.ts'
import { atEnd } from '../../../support/at-end.ts'
import { spawnProcess } from '../../../support/cli.ts'
import { withOpenApiFetch, withSwaggerTypescriptApi } from './uses.ts'

/** A program that uses a client, with the URL of the service and the key. */
interface Program {
  use(baseUrl: string, apiKey: string): Promise<unknown>
}

/** Generates and compiles both clients with their example programs; `problems` are the compiler's errors. */
export async function makeClients() {
  const directory = await mkdtemp(join(tmpdir(), 'tabwire-clients-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url))
  await symlink(modules, join(directory, 'node_modules'), 'junction')
  const spec = await openApiDocument()
  const files = {
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions }),
    'schema.ts': astToString(await openapiTS(structuredClone(spec) as never)),
    'Api.ts': await swaggerClient(spec),
    'with-openapi-fetch.ts': withOpenApiFetch,
    'with-swagger-typescript-api.ts': withSwaggerTypescriptApi,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  const load = async (name: string) =>
    (await import(/* @vite-ignore */ pathToFileURL(join(directory, `${name}.js`)).href)) as Program
  return { problems: await compile(directory, modules), load }
}

async function swaggerClient(spec: object): Promise<string> {
  const { files } = await generateApi({ spec: spec, output: false, silent: true })
  return files.find(({ fileName }) => fileName === 'Api')?.fileContent ?? ''
}

/** As strictly as can be expected of code that others generate. */
const compilerOptions = {
  strict: true,
  noImplicitReturns: true,
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  skipLibCheck: true,
}

async function compile(directory: string, modules: string): Promise<string> {
  const compiler = join(modules, 'typescript-native/bin/tsc')
  const { stdout } = await (
    await spawnProcess(process.execPath, [compiler, '-p', '.'], { cwd: directory })
  ).ended
  return stdout
}
