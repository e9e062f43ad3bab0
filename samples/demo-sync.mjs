/** A map of the embedded service that is kept equal to a table of 3,000 rows, and pulled back into every format. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { geoferry, main, output, steps, to } from "./demo-steps.mjs";

const features = 3000;

/** Weather stations on a grid over the Alps, as a table. @param change the temperature of row n */
function table(count, change) {
  const rows = Array.from({ length: count }, (_, n) => {
    const [longitude, latitude] = [6 + (n % 60) * 0.1, 45 + Math.floor(n / 60) * 0.05];
    return `S${String(n).padStart(4, "0")},Station ${n},${change(n)},${longitude.toFixed(1)},${latitude.toFixed(2)}`;
  });
  return `ref,name,temperature,longitude,latitude\n${rows.join("\n")}\n`;
}

const temperature = (n) => (n % 37) - 8;

/** `geoferry admin`, which prints a record. */
function admin(args, input = "") {
  const run = spawnSync(process.execPath, [main, "admin", ...args, "--data", to("service"), "--json"], {
    input,
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout);
}

/** Starts the service on a free port. @returns its process and its address */
async function serve() {
  const log = openSync(to("service.log"), "w");
  const service = spawn(process.execPath, [main, "serve", "--data", to("service"), "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", log],
  });
  const [line] = await Promise.race([once(service.stdout, "data"), once(service, "exit")]);
  if (!(line instanceof Buffer)) throw new Error(readFileSync(to("service.log"), "utf8"));
  return { service, url: JSON.parse(line.toString().split("\n", 1)[0]).url };
}

export async function syncStory() {
  console.log("\n# A Map Features Service with its own database, an account, a map, and credentials for programs");
  const { service, url } = await serve();
  try {
    admin(["user", "add", "ada@example.org"], "a password of the demo\n");
    const { id: map } = admin(["map", "add", "Stations", "--owner", "ada@example.org"]);
    const credential = admin(["credential", "add", "--owner", "ada@example.org"]);
    console.log(`serving at ${url}; map ${map}`);
    const env = {
      GEOFERRY_URL: url,
      GEOFERRY_CLIENT_ID: credential.client_id,
      GEOFERRY_CLIENT_SECRET: credential.client_secret,
      GEOFERRY_STATE: to("state"),
    };
    const step = (title, args, says, { expected = 0, ...shown } = {}) =>
      geoferry(title, args, expected, { says, env, ...shown });

    writeFileSync(to("stations.csv"), table(features, temperature));
    const full = ["push", to("stations.csv"), "--map", map, "--mode", "full", "--remote-field", "ref"];
    step("Make the map equal to a table of 3,000 stations", full, ["created 3,000, updated 0, deleted 0"]);
    step("The same again: there is nothing to do", full, ["nothing to do"]);
    step(
      "The plan of it is empty",
      ["plan", to("stations.csv"), "--map", map, "--mode", "full"],
      ["same        3,000"],
    );

    writeFileSync(
      to("stations.csv"),
      table(features + 10, (n) => temperature(n) + (n % 100 === 0 ? 1 : 0)),
    );
    step(
      "30 stations got warmer and 10 are new: the plan, as a page to look at",
      ["plan", to("stations.csv"), "--map", map, "--html", to("plan.html")],
      ["create         10", "update         30"],
    );
    const incremental = ["push", to("stations.csv"), "--map", map, "--backup", to("stations-backup.geojson")];
    step("The push sends only these", incremental, ["created 10, updated 30, deleted 0"]);

    for (const format of ["geojson", "csv", "shp", "gpkg", "kml", "gpx"])
      step(`The map as ${format}`, ["pull", to(`pulled.${format}`), "--map", map], ["3,010 features"], {
        before: to("stations.csv"),
        after: to(`pulled.${format}`),
      });
    step(
      "The map and the table agree",
      ["verify", to("stations.csv"), "--map", map, "--exit-code"],
      ["same        3,010"],
    );
    writeFileSync(to("empty.csv"), "ref,name,temperature,longitude,latitude\n");
    step(
      "An empty table would empty the map: a guard stops it",
      ["push", to("empty.csv"), ...full.slice(2)],
      ["--allow-empty"],
      { expected: 7 },
    );
  } catch (error) {
    steps.failed++;
    console.log(`! ${error.message}`);
  } finally {
    service.kill("SIGTERM");
    await once(service, "exit");
    console.log(`\nThe data of the service are in ${to("service")}, its log in ${output}/service.log`);
  }
}
