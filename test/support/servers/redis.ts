/** A separate Redis for tests, from the installed program: on a free port, with its append-only file in a folder. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { hasProgram } from "../command.js";
import type { Certificate } from "./certificate.js";
import { freePort } from "./free-port.js";

/** In CI its absence is a failure; elsewhere a warning is printed. */
export const hasRedis = ((): boolean => {
  const found = hasProgram("redis-server");
  if (!found) console.warn("redis-server is not installed: NONE of the tests of the queue are run");
  return found;
})();

export class RedisServer {
  private readonly folder = mkdtempSync(join(tmpdir(), "geoferry-redis-"));
  private child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly settings: readonly string[],
    private readonly certificate: Certificate | null,
  ) {}

  /**
   * @param settings lines of redis.conf: `--requirepass x`
   * @param certificate accepts only TLS with it
   */
  static async start(settings: readonly string[] = [], certificate: Certificate | null = null): Promise<RedisServer> {
    const redis = new RedisServer(await freePort(), settings, certificate);
    await redis.begin();
    return redis;
  }

  get url(): string {
    return `${this.certificate === null ? "redis" : "rediss"}://127.0.0.1:${this.port}`;
  }

  client(url: string = this.url): Redis {
    const client = new Redis(url, { maxRetriesPerRequest: null });
    client.on("error", () => {});
    return client;
  }

  private async begin(): Promise<void> {
    const { authority = "", file = "", key = "" } = this.certificate ?? {};
    const secured = ["--tls-cert-file", file, "--tls-key-file", key, "--tls-ca-cert-file", authority];
    const port = String(this.port);
    const listening = this.certificate === null ? ["--port", port] : ["--port", "0", "--tls-port", port, ...secured];
    const own = [...listening, "--bind", "127.0.0.1", "--dir", this.folder, "--appendonly", "yes"];
    this.child = spawn("redis-server", [...own, "--save", "", ...this.settings], { stdio: "ignore" });
    const shown = this.certificate === null ? [] : ["--tls", "--cacert", authority, "--cert", file, "--key", key];
    for (;;) {
      const said = spawnSync("redis-cli", ["-p", port, ...shown, "ping"], { encoding: "utf8" });
      if (/PONG|NOAUTH/.test(said.stdout + said.stderr)) return;
      if (this.child.exitCode !== null) throw new Error("redis-server has ended");
      await pause(50);
    }
  }

  /** Kills the server like a power failure, and restarts it from its append-only file. */
  async restart(away: number): Promise<void> {
    const ended = once(this.child!, "exit");
    this.child!.kill("SIGKILL");
    await ended;
    await pause(away);
    await this.begin();
  }

  /** Keeps connections open, but does not respond. */
  freeze(): void {
    this.child!.kill("SIGSTOP");
  }

  async stop(): Promise<void> {
    if (this.child!.signalCode !== null) return;
    const ended = once(this.child!, "exit");
    this.child!.kill("SIGKILL");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
