/**
 * Entry point of the process that runs GDAL. Native code may crash, hang or exhaust memory on a malformed file, which would
 * affect all threads of a process; a separate process can be killed.
 */
import { listDrivers } from "./drivers/driver-list.js";
import { type Gdal, loadGdal } from "./process/library.js";
import { GdalLog } from "./process/log.js";
import type { GdalReply, GdalRequest } from "./process/protocol.js";
import { DatasetReading } from "./read/dataset-reading.js";
import { translate } from "./write/translate.js";

type BareReply = GdalReply extends infer R ? (R extends GdalReply ? Omit<R, "warnings"> : never) : never;

let openReading: DatasetReading | undefined;
const log = new GdalLog();

async function handleRequest(gdal: Gdal, request: GdalRequest): Promise<BareReply> {
  switch (request.kind) {
    case "open":
      openReading = DatasetReading.open(gdal, log, request);
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
  // Makes GDAL write errors and warnings to the log, which `GdalLog` reads.
  gdal.verbose();
  process.on("message", (request: GdalRequest) => {
    handleRequest(gdal, request).then(
      (reply) => process.send!({ ...reply, warnings: log.takeAll() }),
      (error: Error) => {
        const [logged = ""] = log.takeErrors();
        process.send!({ kind: "error", message: error.message.trim() || logged, warnings: log.takeAll() });
      },
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
