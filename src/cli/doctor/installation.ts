import { dirname, sep } from 'node:path'
import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../package-file.ts'
import type { Finding } from './finding.ts'

/** What tells how Tabwire was installed. Paths have the separators of the system. */
interface Installation {
  /** Folder of the package. */
  program: string
  /** File of Node.js, or of the single executable. */
  executable: string
  isSingle: boolean
  /** True in the container image, which sets TABWIRE_IMAGE. */
  isImage: boolean
}

/** Says how Tabwire was installed, and how to update it. */
export function checkInstallation(installation: Installation = thisInstallation()): Finding {
  const [way, update] = wayOf(installation)
  return { check: 'installation', level: 'good', message: `Tabwire is installed ${way}. Update: ${update}.` }
}

function thisInstallation(): Installation {
  return {
    program: fileURLToPath(packageFile('.')),
    executable: process.execPath,
    isSingle: isSea(),
    isImage: process.env.TABWIRE_IMAGE !== undefined,
  }
}

/** Returns the way of installation and the command that updates it. */
function wayOf({ program, executable, isSingle, isImage }: Installation): [way: string, update: string] {
  if (isImage) return ['as a container image', 'pull a newer tag']
  const folder = slashed(program).replace(/\/$/, '')
  const file = slashed(executable)
  const isDownload = isSingle || file === `${dirname(folder)}/node`
  if (isDownload && file.includes('/Cellar/')) return ['by Homebrew', '`brew upgrade tabwire`']
  if (isDownload && /\/scoop\/apps\//i.test(file)) return ['by Scoop', '`scoop update tabwire`']
  if (isDownload && /\/winget\/packages\//i.test(file))
    return ['by winget', '`winget upgrade Tabwire.Tabwire`']
  if (isDownload) return [`as a download, ${executable}`, 'run the install script of a newer release']
  if (folder.includes('/_npx/')) return ['by npx, for this run', '`npx tabwire@latest`']
  const [project = '', ...below] = folder.split('/node_modules/')
  if (below.length === 0) return [`as a clone in ${program}`, '`git pull && npm ci`']
  if (isGlobal(project, file)) return ['by npm, globally', '`npm install --global tabwire@latest`']
  return [`in the project ${project.replaceAll('/', sep)}`, '`npm install --save-dev tabwire@latest` there']
}

/** Returns true for npm's global folder: beside Node.js, or below the user's data on Windows. */
function isGlobal(parent: string, executable: string): boolean {
  const prefix = dirname(dirname(executable))
  return (
    parent === `${prefix}/lib` || parent === dirname(executable) || /\/AppData\/Roaming\/npm$/i.test(parent)
  )
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/')
}
