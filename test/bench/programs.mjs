/** The programs that the bench compares, and how each is called for a pair of formats. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { formats, ogrArguments } from "./ogr2ogr.mjs";
import { peerProgram } from "./peers.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The command, as it is built. */
export const main = join(root, "dist", "src", "cli", "main.js");

/**
 * What converts `input`: geoferry with each number of workers, or as many as it chooses (`auto`); ogr2ogr with each pair
 * of drivers; the other programs that are there.
 * `why` says what keeps a program from it; else `args(folder)` is how it is called to write into a folder.
 */
export function programs({ from, to, geometry, input, workers, peers }) {
  const [source, target] = [formats[from], formats[to]];
  const name = `out.${target.extension}`;
  const ours = workers.map((count) => ({
    name: `geoferry ${count}`,
    command: process.execPath,
    args: (folder) => [
      ...[main, "convert", input, join(folder, name), "--quiet"],
      ...(count === "auto" ? [] : ["--workers", count]),
    ],
  }));
  const drivers =
    from === to
      ? source.drivers.map((driver) => [driver, driver])
      : source.drivers.flatMap((reader) => target.drivers.map((writer) => [reader, writer]));
  const theirs = drivers.map(([reader, writer]) => {
    const named = [source.drivers.length > 1 ? reader : target.drivers.length > 1 ? writer : null];
    return {
      name: ["ogr2ogr", ...named.flatMap((driver) => driver?.name ?? [])].join(" "),
      command: "ogr2ogr",
      args: (folder) => ogrArguments(reader, writer, geometry, input, join(folder, name)),
    };
  });
  const others = peers.map((peer) => peerProgram(peer, { from, to, geometry, input }));
  return [...ours, ...theirs, ...others];
}

const firstLine = (command, args) => spawnSync(command, args, { encoding: "utf8" }).stdout?.split("\n")[0] ?? "";

/** What was compared, and on what, in words. */
export function setting(peers) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [cpu] = cpus();
  return [
    `geoferry ${version}`,
    `Node ${process.versions.node}`,
    firstLine("ogr2ogr", ["--version"]).replace(/, released.*/, ""),
    ...peers.map(({ name, path, version }) => `${name} ${version(path)}`),
    `${cpus().length} × ${cpu?.model ?? process.arch}`,
  ].join(", ");
}
