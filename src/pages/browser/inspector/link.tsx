import type { ComponentChildren } from 'preact'
import { address, go, hrefOf, type Address } from './address.ts'

interface LinkProps {
  to: Partial<Address>
  class?: string
  current?: boolean
  children: ComponentChildren
}

/** A real link, which can be opened in another tab, and is followed here without loading the page. */
export function Link({ to, current = false, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={hrefOf(to, address.value)}
      aria-current={current ? 'true' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}
