/**
 * Entry point of the process that runs GDAL. Native code may crash, hang or exhaust memory on a malformed file, which would
 * affect all threads of a process; a separate process can be killed.
 */
import { readFileSync } from "node:fs";
import { listDrivers } from "./drivers/driver-list.js";
import { type Gdal, loadGdal } from "./process/library.js";
import type { GdalReply, GdalRequest } from "./process/protocol.js";
import { DatasetReading } from "./read/dataset-reading.js";
import { translate } from "./write/translate.js";

type BareReply = GdalReply extends infer R ? (R extends GdalReply ? Omit<R, "warnings"> : never) : never;

let openReading: DatasetReading | undefined;
let warningsRead = 0;

/** New lines in GDAL's log since the last call, without repetitions. */
function newWarnings(): string[] {
  const log = process.env.CPL_LOG;
  if (!log) return [];
  let text: Buffer;
  try {
    text = readFileSync(log);
  } catch {
    return [];
  }
  const lines = text.subarray(warningsRead).toString("utf8").split("\n");
  warningsRead = text.length;
  return [...new Set(lines.map((line) => line.trim()).filter((line) => /^(Warning|ERROR) \d+: /.test(line)))].slice(
    0,
    50,
  );
}

async function handleRequest(gdal: Gdal, request: GdalRequest): Promise<BareReply> {
  switch (request.kind) {
    case "open":
      openReading = DatasetReading.open(gdal, request);
      return openReading.facts();
    case "start":
      openReading!.start(request.layer, request.ids);
      return { kind: "start" };
    case "rows":
      return openReading!.rows();
    case "write":
      return translate(gdal, request);
  }
}

function serve(gdal: Gdal): void {
  // Makes GDAL write errors and warnings to the log, which `newWarnings` reads.
  gdal.verbose();
  process.on("message", (request: GdalRequest) => {
    handleRequest(gdal, request).then(
      (reply) => process.send!({ ...reply, warnings: newWarnings() }),
      (error: Error) => process.send!({ kind: "error", message: error.message, warnings: newWarnings() }),
    );
  });
  process.on("disconnect", () => process.exit());
}

try {
  const gdal = loadGdal();
  if (process.argv[2] === "catalogue") process.stdout.write(JSON.stringify(listDrivers(gdal)));
  else serve(gdal);
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
