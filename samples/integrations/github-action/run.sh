#!/usr/bin/env bash
# Runs each line of $COMMANDS as a geoferry command. All run; the first status that is not 0 becomes that of the step.
set -uo pipefail
report=$(mktemp "${RUNNER_TEMP:-/tmp}/geoferry-report-XXXXXX")
records=$(mktemp)
first=0
while IFS= read -r line; do
  [[ $line =~ ^[[:space:]]*(#|$) ]] && continue
  echo "::group::geoferry $line"
  # Quotes hold words together, and geoferry expands patterns. Nothing else of a shell is interpreted: a line may
  # contain names from a pull request.
  status=2
  : > "$records"
  if words=$(xargs printf '%s\n' <<< "$line"); then
    mapfile -t arguments <<< "$words"
    geoferry "${arguments[@]}" --json > "$records"
    status=$?
    cat "$records" >> "$report"
  fi
  echo "::endgroup::"
  if [ "$status" -ne 0 ]; then
    node "${BASH_SOURCE%/*}/annotate.mjs" "$records"
    echo "::error::geoferry ${line//%/%25} ended with status $status"
    [ "$first" -eq 0 ] && first=$status
  fi
done <<< "$COMMANDS"
rm -f "$records"
[ -n "${GITHUB_OUTPUT:-}" ] && echo "report=$report" >> "$GITHUB_OUTPUT"
exit "$first"
