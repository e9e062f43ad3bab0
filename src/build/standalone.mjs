/**
 * Makes executables of geoferry that need no Node on the machine, in `dist-standalone/`: for Linux and macOS one file
 * that unpacks itself into the user's cache folder on its first run, for Windows a zip. Needs a build (`npm run build`)
 * and the npm registry, which has the binaries of Node.
 *
 *   node src/build/standalone.mjs [linux-x64 | linux-arm64 | darwin-x64 | darwin-arm64 | win-x64 …]
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { host, nodeBinary, nodeMajor } from "./node-binary.mjs";

const root = join(import.meta.dirname, "..", "..");
const target = process.env.GEOFERRY_STANDALONE ?? join(root, "dist-standalone");
const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win-x64"];

const requested = process.argv.length > 2 ? process.argv.slice(2) : [host];
for (const platform of requested) {
  if (!platforms.includes(platform)) fail(`${platform}: there is no such platform; there are ${platforms.join(", ")}`);
}
if (!existsSync(join(root, "dist", "src", "cli", "main.js"))) fail("there is no build: run npm run build first");

mkdirSync(target, { recursive: true });
for (const platform of requested) {
  const scratch = mkdtempSync(join(tmpdir(), "geoferry-standalone-"));
  try {
    const folder = join(scratch, "geoferry");
    fillFolder(folder, platform);
    const path = platform.startsWith("win") ? packZip(scratch, platform) : packExecutable(scratch, folder, platform);
    console.log(`${path} (${(statSync(path).size / 2 ** 20).toFixed(0)} MB)`);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function fail(sentence) {
  console.error(`standalone: ${sentence}`);
  process.exit(1);
}

/** Puts the package, what it depends on, and Node into a folder. */
function fillFolder(folder, platform) {
  const library = join(folder, "lib");
  mkdirSync(library, { recursive: true });
  for (const name of ["dist", "docs", "samples", "package.json", "LICENSE", "README.md"])
    cpSync(join(root, name), join(library, name), { recursive: true });
  for (const name of Object.keys(manifest.dependencies))
    cpSync(join(root, "node_modules", name), join(library, "node_modules", name), { recursive: true });
  const extension = platform.startsWith("win") ? ".exe" : "";
  copyFileSync(nodeBinary(platform), join(folder, `node${extension}`));
  chmodSync(join(folder, `node${extension}`), 0o755);
  setTimes(folder);
}

/** The time of all files, so that the same build gives the same bytes: that of the sources, or 1980. */
function setTimes(folder) {
  const time = Number(process.env.SOURCE_DATE_EPOCH ?? 315_532_800);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    utimesSync(join(folder, name), time, time);
  utimesSync(folder, time, time);
}

/** A shell script that unpacks the archive behind it once, and runs it. */
function packExecutable(scratch, folder, platform) {
  const archive = join(scratch, "archive.tar.gz");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
  writeFileSync(join(scratch, "names"), names.join("\n"));
  execFileSync("sh", [
    "-c",
    'tar --create --owner=0 --group=0 --numeric-owner --directory="$1" --files-from="$2" | gzip -n > "$3"',
    "sh",
    folder,
    join(scratch, "names"),
    archive,
  ]);
  const bytes = readFileSync(archive);
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const path = join(target, `geoferry-${manifest.version}-${platform}`);
  writeFileSync(path, Buffer.concat([Buffer.from(launcher(`${manifest.version}-${digest}`)), bytes]), { mode: 0o755 });
  return path;
}

/** The last line ends the script; the archive begins behind it. */
function launcher(release) {
  const script = `#!/bin/sh
# geoferry ${manifest.version} with Node ${nodeMajor}. Unpacks itself once into GEOFERRY_HOME, else the cache folder of the user.
set -e
home=\${GEOFERRY_HOME:-\${XDG_CACHE_HOME:-\${HOME:-/tmp}/.cache}/geoferry}/${release}
if [ ! -e "$home/complete" ]; then
  mkdir -p "$home" && chmod 700 "$home"
  part=$(mktemp -d "$home.XXXXXX")
  trap 'rm -rf "$part"' EXIT
  tail -c +@OFFSET@ "$0" | gzip -dc | tar -x -f - -C "$part"
  touch "$part/complete"
  rm -rf "$home"
  # Another process may have been faster; its copy is as good.
  mv "$part" "$home" 2>/dev/null || [ -e "$home/complete" ]
  trap - EXIT
fi
exec "$home/node" "$home/lib/dist/src/cli/main.js" "$@"
exit 1
`;
  // The offset has the same width as its placeholder.
  const offset = Buffer.byteLength(script) + 1;
  return script.replace("@OFFSET@", String(offset).padStart("@OFFSET@".length, "0"));
}

/** A zip with a command file, for Windows. */
function packZip(scratch, platform) {
  writeFileSync(
    join(scratch, "geoferry", "geoferry.cmd"),
    '@echo off\r\n"%~dp0node.exe" "%~dp0lib\\dist\\src\\cli\\main.js" %*\r\n',
  );
  const path = join(target, `geoferry-${manifest.version}-${platform}.zip`);
  rmSync(path, { force: true });
  execFileSync("zip", ["-q", "-r", "-X", path, "geoferry"], { cwd: scratch });
  return path;
}
