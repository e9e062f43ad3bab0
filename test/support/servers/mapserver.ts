/** MapServer (Debian's cgi-mapserver) behind an HTTP server: WFS and OGC API Features. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

const program = "/usr/lib/cgi-bin/mapserv";
export const hasMapServer = existsSync(program);

export interface MapServerLayer {
  readonly name: string;
  /** A file that OGR reads. */
  readonly file: string;
  /** The table in it; default: the name of the layer. */
  readonly table?: string;
  readonly type: "POINT" | "LINE" | "POLYGON";
  /** West, south, east, north in the system of the table. */
  readonly extent: readonly [number, number, number, number];
  /** EPSG code of the table. */
  readonly epsg: number;
  /** Types of fields, as `gml_NAME_type`. */
  readonly types?: Readonly<Record<string, string>>;
  readonly idField: string;
}

const layerText = ({ name, file, table = name, type, epsg, extent, types = {}, idField }: MapServerLayer): string => `
LAYER
  NAME "${name}" TYPE ${type} STATUS ON
  CONNECTIONTYPE OGR CONNECTION "${file}" DATA "${table}"
  PROJECTION "init=epsg:${epsg}" END
  EXTENT ${extent.join(" ")}
  TEMPLATE "query"
  METADATA
    "wfs_title" "${name}" "wfs_srs" "EPSG:${epsg}" "gml_include_items" "all" "gml_featureid" "${idField}"
    "wfs_enable_request" "*" "oga_enable_request" "*" "oga_title" "${name}"
    "wfs_use_default_extent_for_getfeature" "false"
    ${Object.entries(types)
      .map(([field, fieldType]) => `"gml_${field}_type" "${fieldType}"`)
      .join("\n    ")}
  END
END`;

const mapText = (layer: MapServerLayer, origin: string): string => `MAP
NAME "test"
EXTENT ${layer.extent.join(" ")}
SIZE 100 100
PROJECTION "init=epsg:${layer.epsg}" END
WEB
  METADATA
    "ows_title" "test" "ows_onlineresource" "${origin}/wfs?map=${layer.name}"
    "oga_onlineresource" "${origin}/${layer.name}/ogcapi" "ows_enable_request" "*" "oga_enable_request" "*"
  END
END
${layerText(layer)}
END
`;

export class MapServer {
  /** Query strings of the requests. */
  readonly requests: string[] = [];

  private constructor(private readonly server: Server) {}

  /** Each layer is a service of its own. @param folder for the map files */
  static async start(folder: string, layers: readonly MapServerLayer[]): Promise<MapServer> {
    const config = join(folder, "mapserver.conf");
    const maps = layers.map(({ name }) => `    ${name} "${join(folder, name)}.map"`);
    writeFileSync(config, `CONFIG\n  ENV\n    MS_MAP_PATTERN "."\n  END\n  MAPS\n${maps.join("\n")}\n  END\nEND\n`);
    const server = createServer((incoming, response) => {
      const { pathname, search } = new URL(incoming.url ?? "/", "http://localhost");
      own.requests.push(pathname + search);
      const child = spawn(program, [], {
        env: {
          ...{ PATH: process.env.PATH, MAPSERVER_CONFIG_FILE: config, REQUEST_METHOD: "GET" },
          ...{
            QUERY_STRING: search.slice(1),
            SCRIPT_NAME: "",
            PATH_INFO: pathname,
            HTTP_ACCEPT: incoming.headers.accept,
          },
          ...{ SERVER_NAME: "127.0.0.1", SERVER_PORT: String(own.port), HTTP_HOST: `127.0.0.1:${own.port}` },
        },
      });
      const chunks: Buffer[] = [];
      child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
      child.on("close", () => {
        const answer = Buffer.concat(chunks);
        const end = answer.indexOf("\r\n\r\n");
        const lines = answer.toString("latin1", 0, end).split("\r\n");
        const headers = Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
        const status = Number.parseInt(headers.Status ?? "200", 10);
        response.writeHead(status, { "content-type": headers["Content-Type"] ?? "text/plain" });
        response.end(answer.subarray(end + 4));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const own = new MapServer(server);
    for (const layer of layers) writeFileSync(join(folder, `${layer.name}.map`), mapText(layer, own.origin));
    return own;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  wfs(layer: string): string {
    return `${this.origin}/wfs?map=${layer}&service=WFS`;
  }

  /** The landing page. */
  features(layer: string): string {
    return `${this.origin}/${layer}/ogcapi`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
