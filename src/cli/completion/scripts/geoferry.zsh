#compdef geoferry
# geoferry completion for zsh
_geoferry() {
  local line directives
  local -a lines values shown options
  lines=("${(@f)$(geoferry __complete zsh "${(@Q)words[2,CURRENT-1]}" "=${(Q)PREFIX}" 2>/dev/null)}")
  directives=" $lines[1] "
  for line in "${(@)lines[2,-1]}"; do
    values+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  [[ $directives == *" nospace "* ]] && options+=(-S '')
  if (( $#values )); then
    if [[ $directives == *" list "* ]]; then
      options+=(-U)
      if (( $#values > 1 )); then
        compstate[insert]=''
        compstate[list]='list force'
      fi
    fi
    compadd -V geoferry -l -d shown "${options[@]}" -a values
  fi
  [[ $directives == *" files "* ]] && _files
  return 0
}
if [[ $funcstack[1] == _geoferry ]]; then
  _geoferry "$@"
else
  compdef _geoferry geoferry
fi
