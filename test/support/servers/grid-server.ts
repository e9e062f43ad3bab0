/** A local server of grid files, with typical faults. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A fault of the server, for `times` requests; permanent if absent. */
export type GridServerFault =
  | { readonly kind: "cut"; readonly after: number; readonly times?: number }
  | { readonly kind: "status"; readonly status: number; readonly times?: number }
  | { readonly kind: "silent"; readonly after: number }
  | { readonly kind: "altered" }
  | { readonly kind: "redirect"; readonly to: string };

export class GridServer implements AsyncDisposable {
  /** Received requests: the path, and the range if there was one. */
  readonly requests: { readonly path: string; readonly range: string | null }[] = [];
  fault: GridServerFault | null = null;
  ranges = true;
  private faulty = 0;

  private constructor(
    private readonly server: Server,
    private readonly files: ReadonlyMap<string, Buffer>,
  ) {}

  static async start(files: ReadonlyMap<string, Buffer>): Promise<GridServer> {
    const server = createServer();
    const made = new GridServer(server, files);
    server.on("request", (request, response) => made.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  misbehave(fault: GridServerFault | null): void {
    this.fault = fault;
    this.faulty = fault && "times" in fault ? (fault.times ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    this.requests.length = 0;
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? "", "http://any").pathname;
    const range = request.headers.range ?? null;
    this.requests.push({ path, range });
    const fault = this.faulty-- > 0 ? this.fault : null;
    const whole = this.files.get(path.slice(1));
    if (!whole) return void response.writeHead(404).end();
    if (fault?.kind === "status") return void response.writeHead(fault.status).end();
    if (fault?.kind === "redirect" && !path.startsWith(fault.to))
      return void response.writeHead(302, { location: `${fault.to}${path}` }).end();
    const bytes =
      fault?.kind === "altered" ? Buffer.from(whole.map((byte, i) => (i === 1000 ? byte ^ 1 : byte))) : whole;
    const etag = `"${createHash("sha1").update(bytes).digest("hex")}"`;
    const from = this.ranges ? Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0) : 0;
    const part = bytes.subarray(from);
    const headers = { "content-length": part.length, etag, "content-type": "image/tiff" };
    if (from > 0)
      response.writeHead(206, { ...headers, "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` });
    else response.writeHead(200, headers);
    if (fault?.kind === "cut") response.write(part.subarray(0, fault.after), () => response.destroy());
    else if (fault?.kind === "silent") response.write(part.subarray(0, fault.after));
    else response.end(part);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
