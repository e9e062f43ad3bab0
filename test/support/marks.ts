/** Marks of temporary files (`markPattern`) of processes of this machine. */
import { spawnSync } from "node:child_process";
import { ownMarkPrefix } from "../../src/io/output/abandoned-files.js";

const [host, pid, start] = ownMarkPrefix.split("-");

/** Of this process. */
export const ownMark = `${ownMarkPrefix}-00000000`;

/** Of a process that has ended. */
export const deadMark = `${host}-${spawnSync(process.execPath, ["--version"]).pid}-${start}-00000000`;

/** Of a process that has ended, whose number this process has now. */
export const reusedPidMark = `${host}-${pid}-0123abcd-00000000`;
