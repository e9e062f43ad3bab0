"""Runs the geoferry command, with what it says in the log of the algorithm."""

import json
import os
import shlex
import subprocess

from qgis.core import QgsProcessingException


def run(arguments, feedback, accept=(0,)):
    """Returns the exit status and the JSON records. GEOFERRY names the command where it is not on the PATH."""
    command = [*shlex.split(os.environ.get("GEOFERRY", "geoferry")), *arguments, "--json"]
    feedback.pushCommandInfo(shlex.join(command))
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    except FileNotFoundError as error:
        raise QgsProcessingException(
            f"{command[0]} is not on the PATH: install it with npm install -g geoferry, or name it in GEOFERRY"
        ) from error
    while True:
        try:
            output, messages = process.communicate(timeout=0.2)
            break
        except subprocess.TimeoutExpired:
            # An interrupted conversion leaves nothing behind.
            if feedback.isCanceled():
                process.terminate()
    if process.returncode not in accept:
        raise QgsProcessingException(messages.strip() or f"geoferry ended with status {process.returncode}")
    return process.returncode, [json.loads(line) for line in output.splitlines()]
