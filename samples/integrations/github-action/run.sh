#!/usr/bin/env bash
# Runs each line of $COMMANDS as a geoferry command. All run; the first status that is not 0 becomes that of the step.
set -uo pipefail
report=${RUNNER_TEMP:-/tmp}/geoferry-report.jsonl
: > "$report"
first=0
while IFS= read -r line; do
  [[ $line =~ ^[[:space:]]*(#|$) ]] && continue
  echo "::group::geoferry $line"
  # The line is split as a shell splits it: quotes hold, patterns are expanded by geoferry.
  eval "set -f; arguments=($line); set +f"
  geoferry "${arguments[@]}" --json >> "$report"
  status=$?
  echo "::endgroup::"
  if [ "$status" -ne 0 ]; then
    echo "::error::geoferry $line ended with status $status"
    [ "$first" -eq 0 ] && first=$status
  fi
done <<< "$COMMANDS"
[ -n "${GITHUB_OUTPUT:-}" ] && echo "report=$report" >> "$GITHUB_OUTPUT"
exit "$first"
