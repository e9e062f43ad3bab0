# geoferry completion for bash
_geoferry() {
  local directives
  COMPREPLY=()
  {
    read -r directives
    mapfile -t COMPREPLY
  } < <(geoferry __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" "${COLUMNS:-80}" 2>/dev/null)
  case " $directives " in *" nospace "*) compopt -o nospace ;; esac
  case " $directives " in
    *" files "*) ;;
    *) compopt +o default +o bashdefault ;;
  esac
}
complete -o bashdefault -o default -o nosort -F _geoferry geoferry
