import { CopyButton } from '../elements.tsx'
import { useRead } from '../live.ts'

/** The address of a table's guest page, and its QR code as an SVG path. */
interface TableQr {
  url: string
  size: number
  path: string
}

/** The guest page of a table: a link, and the QR code that guests scan. */
export function GuestPage({ table }: { table: string }) {
  const { value } = useRead<TableQr>(`/tables/${encodeURIComponent(table)}/qr`)
  if (value === undefined) return null
  const { url, size, path } = value
  return (
    <div class="guest-page">
      <svg
        class="qr"
        viewBox={`0 0 ${size} ${size}`}
        role="img"
        aria-label={`QR code of the guest page of table ${table}`}
        shape-rendering="crispEdges"
      >
        <path d={path} />
      </svg>
      <div class="buttons">
        <a class="button" href={url} target="_blank" rel="noopener">
          Open guest page
        </a>
        <CopyButton label="Copy link" text={() => url} />
      </div>
    </div>
  )
}
