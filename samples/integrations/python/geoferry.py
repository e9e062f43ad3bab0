"""Runs geoferry from Python: no package is needed but Python's own, and geoferry on the PATH."""

import json
import subprocess
import sys


class GeoferryError(RuntimeError):
    """geoferry ended with a status that is not expected. `status` is one of docs/command-line.md."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def geoferry(*arguments, accept=(0,)):
    """Runs a command and returns its JSON records as a list of dictionaries."""
    done = subprocess.run(["geoferry", *map(str, arguments), "--json"], capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in accept:
        raise GeoferryError(done.returncode, done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


def convert(source, target, *options):
    """Converts, and returns the summary, the losses and the rejected features' file. Status 5: some were rejected."""
    records = geoferry("convert", source, target, *options, accept=(0, 5))
    (summary,) = (record for record in records if record["type"] == "summary")
    losses = [record for record in records if record["type"] == "loss"]
    return summary, losses


if __name__ == "__main__":
    summary, losses = convert(*sys.argv[1:])
    print(f"{summary['written']} of {summary['read']} features written to {summary['output']}")
    for loss in losses:
        print(f"lost: {loss['code']} {loss.get('field', '')} ({loss['count']} times): {loss['example']}")
    if summary["rejected"]:
        dropped = summary["rejected"] - summary["kept"]
        print(f"{dropped} rejected, {summary['kept']} kept without geometry, with the reasons in {summary['rejects']}")
