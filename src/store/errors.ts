/** Stored data is damaged or unreadable. The message names file and line, and how to keep what can be kept. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged'
}

/** The data was written by a newer version and must not be changed. */
export class StoreTooNew extends StoreDamaged {}

/** The end of every message about damage. */
export const REPAIR_ADVICE =
  'Nothing was changed. `tabwire doctor` shows the damage, and `tabwire doctor --repair` moves damaged files aside. Or restore a backup.'

/** Another process, or this one, has the directory open. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse'
  /** The process that has it open. */
  readonly pid: number

  /** `isVisible`: the process id is of this namespace; otherwise the process runs in another container. */
  constructor(directory: string, pid: number, { isVisible }: { isVisible: boolean }) {
    const other = isVisible
      ? `the process with pid ${pid}`
      : `a process in another container (pid ${pid} there)`
    const isHere = isVisible && pid === process.pid
    const holder = isHere
      ? `this process (pid ${pid}). Close the other simulator`
      : `${other}. Stop that process`
    super(`${directory} is in use by ${holder}, or choose another directory.`)
    this.pid = pid
  }
}

/** The directory cannot be created, read or written. */
export class DirectoryUnusable extends Error {
  override readonly name = 'DirectoryUnusable'
}

/** The path of an open file leads to another file or none, so that further writes would be lost. */
export class FileGone extends Error {
  override readonly name = 'FileGone'
  override readonly message: string =
    'the data directory was deleted, moved or replaced while the service ran'
  readonly remedy: string = 'Restore the directory, or restart the service'
}

/** Another process opened the directory, and could not see this one: as a rule, it runs on another machine. */
export class TakenOver extends FileGone {
  override readonly message = 'another process took over the data directory'
  override readonly remedy = 'Stop one of the two, restart the other'
}

/** Returns the system's error code, such as ENOSPC. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is too large',
  EIO: 'the disk reports an error',
  // Windows reports a path below a file so.
  ENOENT: 'a part of the path is missing, or is a file',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EEXIST: 'a part of the path is a file, not a directory, or a link to a missing target',
  EISDIR: 'it is a directory, not a file',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
}

/** Reasons on Windows, where a program that has a file open can keep others from reading or replacing it. */
const reasonsOfWindows: Readonly<Record<string, string>> = {
  EACCES: 'permission denied, or another program has the file open',
  EPERM: 'permission denied, or another program has the file open',
  EBUSY: 'another program has the file open',
}

/** Explains a failure of the disk, without a path. */
export function reasonOf(error: unknown, system: NodeJS.Platform = process.platform): string {
  if (error instanceof FileGone) return error.message
  const code = codeOf(error)
  if (code === undefined) return 'an unexpected error'
  const reason = (system === 'win32' ? reasonsOfWindows[code] : undefined) ?? reasons[code]
  return reason === undefined ? code : `${reason} (${code})`
}

/** Returns the start of the advice for a failure of the disk; `undefined` when it is about the directory or unknown. */
export function remedyFor(error: unknown, system: NodeJS.Platform = process.platform): string | undefined {
  const code = codeOf(error) ?? ''
  if (code === 'EBUSY' && system === 'win32') return 'Close that program'
  if (/^(ENOSPC|EDQUOT)$/.test(code)) return 'Free disk space'
  if (/^(EMFILE|ENFILE)$/.test(code)) return 'Raise the limit of open files and restart the service'
  return code === 'EIO' ? 'Repair the disk' : undefined
}

/** Returns the error for a directory, or a file in it, that cannot be used. */
export function unusable(
  shown: string,
  error: unknown,
  system: NodeJS.Platform = process.platform,
): DirectoryUnusable {
  return new DirectoryUnusable(
    `Cannot use ${shown}: ${reasonOf(error, system)}. ${remedyFor(error, system) ?? 'Make it readable and writable for this user'}, or choose another directory.`,
    { cause: error },
  )
}
