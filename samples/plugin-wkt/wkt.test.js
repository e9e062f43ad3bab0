import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkFormat } from "geoferry/testing";
import wkt from "./index.js";

const path = fileURLToPath(new URL("places.wkt", import.meta.url));
checkFormat(wkt, { test, samples: [{ path, layers: [{ name: "places", features: 5, rejects: 1 }] }] });
