/** The page of a running `geoferry view`. */
import type { ViewInfo } from "../../../view/protocol.js";
import { App } from "./app.js";
import { httpSource } from "./http-source.js";
import type { Land } from "./map/ground.js";

const load = async <T>(name: string): Promise<T> => (await fetch(name)).json() as Promise<T>;

const [info, land] = await Promise.all([load<ViewInfo>("view.json"), load<Land>("land.json")]);
new App(info, httpSource, land).start();
