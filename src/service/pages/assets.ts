/** Static assets of the pages, loaded at start and served from memory under names with a content hash. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { pageNotFound } from "./rendering/error-page.js";

const manifestPath = createRequire(import.meta.url).resolve("#service-assets");

export type PageAssetName =
  | "maplibre-gl.js"
  | "maplibre-gl-worker.js"
  | "maplibre-gl.css"
  | "land.json"
  | "map.js"
  | "pages.css"
  | "icon.svg"
  | "licences.txt";

const mediaTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

const gzipBuffer = promisify(gzip);

export class PageAssets {
  readonly #addresses = new Map<string, string>();
  readonly #files = new Map<string, { readonly type: string; readonly bytes: Buffer; gzipped?: Promise<Buffer> }>();

  constructor() {
    const names = JSON.parse(readFileSync(manifestPath, "utf8")) as Record<string, string>;
    for (const [name, file] of Object.entries(names)) {
      const bytes = readFileSync(join(dirname(manifestPath), file));
      this.#addresses.set(name, `/assets/${file}`);
      this.#files.set(file, { type: mediaTypes[extname(file)]!, bytes });
    }
  }

  /** URL path of an asset. */
  address(name: PageAssetName): string {
    return this.#addresses.get(name)!;
  }

  serve(app: FastifyInstance): void {
    app.get<{ Params: { file: string } }>("/assets/:file", async (request, reply) => {
      const file = this.#files.get(request.params.file);
      if (!file) throw pageNotFound();
      reply.header("cache-control", "public, max-age=31536000, immutable");
      reply.header("content-type", file.type);
      reply.header("vary", "accept-encoding");
      if (!/\bgzip\b/.test(request.headers["accept-encoding"] ?? "")) return reply.send(file.bytes);
      file.gzipped ??= gzipBuffer(file.bytes);
      return reply.header("content-encoding", "gzip").send(await file.gzipped);
    });
  }
}
