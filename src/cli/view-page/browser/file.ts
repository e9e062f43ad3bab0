/** The page that `geoferry view -o` writes, which needs no server. */
import "./buffer-shim.js";
import type { Analysis, ViewInfo } from "../../../view/protocol.js";
import { App } from "./app.js";
import { localSource, readLayers } from "./local-source.js";
import type { Land } from "./map/ground.js";

const textOf = (id: string): string => document.getElementById(id)!.textContent!;
const parse = <T>(id: string): T => JSON.parse(textOf(id)) as T;

const layers = await readLayers(textOf("data"));
new App(parse<ViewInfo>("view"), localSource(layers, parse<Analysis>("analysis")), parse<Land>("land")).start();
