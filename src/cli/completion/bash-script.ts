/**
 * For bash, from 3.2, as macOS has it, without the package bash-completion. What comes back is compared and handed over as it
 * is: `compgen -W` would expand it, and run what stands in it.
 */
export const bashScript = `# bash completion of tabwire
_tabwire() {
  local line files=yes typed="\${COMP_WORDS[COMP_CWORD]}"
  [[ "$typed" == [=:] ]] && typed=
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :4) files= ;;
      :*) ;;
      "$typed"*) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(tabwire complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ -n "$files" ]] || compopt +o default 2>/dev/null || :
}
complete -o default -F _tabwire tabwire
`
