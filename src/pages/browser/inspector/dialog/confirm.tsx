import { Dialog } from './dialog.tsx'

interface ConfirmProps {
  title: string
  text: string
  action: string
  onConfirm: () => void
  onClose: () => void
}

/** Asks before what cannot be taken back; the way out comes first, and so has the focus. */
export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <form
        method="dialog"
        class="buttons"
        onSubmit={(event) => {
          if ((event.submitter as HTMLButtonElement | null)?.value === 'yes') onConfirm()
        }}
      >
        <button>Keep everything</button>
        <button class="danger" value="yes">
          {action}
        </button>
      </form>
    </Dialog>
  )
}
