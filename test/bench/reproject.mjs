/** What reprojection costs beside carrying coordinates untouched, in interleaved runs of one program on one file. */

import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measure, median } from "./measure.mjs";

/** Points of UTM zone 32 in a CSV. */
async function utmPoints(folder, count) {
  const path = join(folder, `utm-${count}.csv`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const file = createWriteStream(path);
  file.write("id,x,y\n");
  const perLine = Math.ceil(Math.sqrt(count));
  for (let i = 0; i < count; i++) {
    const x = 300_000 + (400_000 * (i % perLine)) / perLine;
    const y = 5_300_000 + (700_000 * Math.floor(i / perLine)) / perLine;
    if (!file.write(`${i},${x.toFixed(3)},${y.toFixed(3)}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
  return path;
}

/** Seconds, or seconds of CPU time, that a million points cost; printed as a line. */
export async function reprojectionCost({ main, folder, count, runs, workers, by }) {
  const input = await utmPoints(folder, count);
  const ways = { untouched: ["--no-reproject"], reprojected: [] };
  const found = { untouched: [], reprojected: [] };
  for (let run = 0; run < runs; run++) {
    for (const [way, flags] of Object.entries(ways)) {
      const scratch = mkdtempSync(join(tmpdir(), "geoferry-bench-out-"));
      const args = ["convert", input, join(scratch, "out.geojsonl"), "--source-crs", "EPSG:32632", ...flags];
      const one = await measure(process.execPath, [main, ...args, "--quiet", "--workers", workers]);
      rmSync(scratch, { recursive: true });
      found[way].push(one[by]);
    }
  }
  const [untouched, reprojected] = [median(found.untouched), median(found.reprojected)];
  const more = (reprojected - untouched).toFixed(2);
  console.log(
    `\nreprojecting ${count} UTM points: ${more} s more than carrying them untouched (${reprojected.toFixed(2)} s, ${untouched.toFixed(2)} s)`,
  );
}
